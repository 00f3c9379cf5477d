import type { Replayed } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { grouped, shortOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'

type Frame = Replayed['frames'][number]
type FramesProps = { readonly run: Replayed; readonly chainId: number }

/** The calls of a run one below the other, the one that failed marked, and what changed hands. */
export function Frames({ run, chainId }: FramesProps) {
  return (
    <>
      <FaultLine run={run} chainId={chainId} />
      <ol class="frames">
        {run.frames.map((frame, at) => (
          <FrameRow key={`${at} ${frame.to}`} frame={frame} chainId={chainId} />
        ))}
      </ol>
      {run.isCut && <p class="muted">Further calls are left out: there are too many.</p>}
      {run.transfers.length > 0 && (
        <>
          <h3>What changed hands</h3>
          <ul class="plain">
            {run.transfers.map(({ kind, token, from, to, amount, id }, at) => (
              <li key={`${at} ${from}`}>
                {kind === 'native' ? (
                  <Amount chainId={chainId} wei={amount} />
                ) : (
                  grouped(BigInt(amount))
                )}
                {token !== null && (
                  <>
                    {' of '}
                    <Hex value={token} what="the token" chainId={chainId} />
                    {id !== null && ` #${id}`}
                  </>
                )}{' '}
                from <Hex value={from} what="the giver" /> to <Hex value={to} what="the receiver" />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

/** The call that failed, and why: the first thing to see. */
function FaultLine({ run: { frames, reason, code }, chainId }: FramesProps) {
  const fault = frames.find(({ isFault }) => isFault)
  if (fault === undefined) return reason === null ? null : <p class="trouble">{reason}</p>
  const text = reason ?? fault.reason ?? fault.error
  return (
    <p class="trouble fault-line">
      <span>
        {code !== null && !text?.startsWith(code) && `${code}: `}
        <strong>{nameOf(fault)}</strong> on{' '}
        <Hex
          value={fault.to}
          what="the contract that failed"
          name={fault.role ?? undefined}
          chainId={chainId}
        />{' '}
        failed{text !== null && `: ${text}`}
      </span>
    </p>
  )
}

/** Levels that are indented: a narrow panel has no space for more. */
const MOST_LEVELS = 8

function FrameRow({ frame, chainId }: { readonly frame: Frame; readonly chainId: number }) {
  const { depth, kind, to, role, value, gasUsed, error, reason, isFault, isUndone } = frame
  return (
    <li
      class={isFault ? 'fault' : isUndone ? 'undone' : undefined}
      style={{ marginLeft: `${Math.min(depth, MOST_LEVELS) * 14}px` }}
      aria-current={isFault || undefined}
    >
      <div class="row">
        <strong title={frame.function?.signature}>{nameOf(frame)}</strong>
        <span class="muted">{kind === 'CALL' ? 'on' : `${kind.toLowerCase()} of`}</span>
        <Hex value={to} what="the contract" name={role ?? undefined} chainId={chainId} />
        {value !== '0' && <Amount chainId={chainId} wei={value} />}
        <span class="muted">{grouped(BigInt(gasUsed))} gas</span>
      </div>
      {error !== null && (
        <p class={isFault ? 'trouble' : 'muted'}>
          {error}
          {reason !== null && `: ${reason}`}
        </p>
      )}
      <More frame={frame} />
    </li>
  )
}

/** Arguments, data, storage and events of a frame: shown where it failed, else on demand. */
function More({ frame }: { readonly frame: Frame }) {
  const { function: named, input, output, storage, events, isFault } = frame
  const lines = [
    ...(named?.args ?? []).map(({ name, value }, at) => [name || `argument ${at + 1}`, value]),
    ...(named === null && input !== '0x' ? [['input', input]] : []),
    ...(output === '0x' ? [] : [['output', output]]),
    ...storage.map(({ slot, before, after }) => [`slot ${shortOf(slot)}`, `${before} → ${after}`]),
    ...events.map(({ name, args, topics }) => [
      `event ${name ?? shortOf(topics[0] ?? '0x')}`,
      args.map((arg) => `${arg.name} ${arg.value}`).join(', '),
    ]),
  ]
  if (lines.length === 0) return null
  return (
    <details open={isFault}>
      <summary class="muted">{lines.length} details</summary>
      <dl class="args">
        {lines.map(([name, value], at) => (
          <div key={`${at} ${name}`}>
            <dt>{name}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function nameOf({ function: named, kind, input, inputBytes }: Frame): string {
  if (named !== null) return named.signature.split('(')[0] ?? ''
  if (kind.startsWith('CREATE')) return 'creation'
  return inputBytes === 0 ? 'plain transfer' : `${input.slice(0, 10)} (${inputBytes} bytes)`
}
