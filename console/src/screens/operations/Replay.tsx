import { useSignal } from '@preact/signals'
import { explorerUrl } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { OperationDetail, Replayed } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { grouped, shortOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Skeleton } from '../../parts/Skeleton.js'

type Frame = Replayed['frames'][number]
type ReplayProps = {
  readonly detail: Pick<OperationDetail, 'chainId' | 'userOpHash' | 'success' | 'state'>
}

/** The run of an operation, call by call: of one that failed at once, of another when it is asked for. */
export function Replay({ detail: { chainId, userOpHash, success, state } }: ReplayProps) {
  const hasFailed = success === false || state === 'dropped'
  const isWanted = useSignal(false)
  const path = `/operations/${chainId}/${userOpHash}/replay`
  const { data, trouble } = useQuery<Replayed>(hasFailed || isWanted.value ? path : undefined)
  if (!hasFailed && state !== 'included') return null
  return (
    <section class="replay">
      <h3>Its run</h3>
      {!hasFailed && !isWanted.value && (
        <button
          type="button"
          onClick={() => {
            isWanted.value = true
          }}
        >
          Show each call
        </button>
      )}
      {trouble !== undefined && data === undefined && (
        <p class="muted">{trouble.status === 404 ? NOTHING : trouble.message}</p>
      )}
      {data === undefined && trouble === undefined && (hasFailed || isWanted.value) && (
        <Skeleton lines={4} />
      )}
      {data !== undefined && <Frames run={data} chainId={chainId} />}
    </section>
  )
}

const NOTHING = 'It ran no code, or what it read was not kept: it cannot be run again.'

function Frames({ run, chainId }: { readonly run: Replayed; readonly chainId: number }) {
  return (
    <>
      {run.reason !== null && <p class="trouble">{run.reason}</p>}
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
                    <Hex
                      value={token}
                      what="the token"
                      href={explorerUrl(chainId, 'address', token)}
                    />
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
        <Hex
          value={to}
          what="the contract"
          name={role ?? undefined}
          href={explorerUrl(chainId, 'address', to)}
        />
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
