import type { ComponentChildren } from 'preact'
import { isReader } from '../../api/share.js'
import type { TimelineEntry } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { clockOf, grouped, momentOf, plainly, shortOf, spanOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { hrefOf, searchWith } from '../../router.js'

const titles: Readonly<Record<TimelineEntry['kind'], string>> = {
  sponsored: 'Sponsored',
  refused: 'Sponsorship refused',
  received: 'Received',
  readmitted: 'Sent again',
  cancelAsked: 'Cancel asked for',
  bundled: 'Bundled',
  broadcast: 'Broadcast',
  returned: 'Back to the pool',
  suspected: 'Back to the pool, suspect',
  reorged: 'Reorganised out',
  dropped: 'Dropped',
  replaced: 'Replaced',
  included: 'Included',
}

const tones: Readonly<Partial<Record<TimelineEntry['kind'], string>>> = {
  refused: 'bad',
  dropped: 'bad',
  suspected: 'doubt',
  returned: 'doubt',
  reorged: 'doubt',
  replaced: 'doubt',
  included: 'good',
  bundled: 'busy',
  broadcast: 'busy',
}

type TimelineProps = { readonly entries: readonly TimelineEntry[]; readonly chainId: number }

/** All that happened to an operation, the oldest first. */
export function Timeline({ entries, chainId }: TimelineProps) {
  return (
    <ol class="timeline">
      {entries.map((entry, at) => {
        const before = entries[at - 1]
        const gap = before && Date.parse(entry.at) - Date.parse(before.at)
        const isFailed = entry.kind === 'included' && !entry.success
        return (
          <li
            key={`${entry.at} ${entry.kind}`}
            class={isFailed ? 'bad' : (tones[entry.kind] ?? '')}
          >
            <time dateTime={entry.at} title={momentOf(entry.at)}>
              {clockOf(entry.at)}
            </time>
            <div>
              <strong>{isFailed ? 'Included, and its call reverted' : titles[entry.kind]}</strong>
              {gap !== undefined && gap > 0 && <span class="muted"> +{spanOf(gap)}</span>}
              <div class="muted">{detailOf(entry, chainId)}</div>
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** Where the time of an included operation went, on its last way through a bundle. */
export function Durations({ entries }: Pick<TimelineProps, 'entries'>) {
  const last = (kind: TimelineEntry['kind']) => entries.findLast((entry) => entry.kind === kind)
  const [sponsored, received, bundled, broadcast, included] = (
    ['sponsored', 'received', 'bundled', 'broadcast', 'included'] as const
  ).map(last)
  if (received === undefined || bundled === undefined || included?.kind !== 'included') return null
  const steps = [
    ['from its sponsorship until the client sent it', sponsored?.at, received.at],
    ['until it was in a bundle', received.at, bundled.at],
    ['until the bundle was sent', bundled.at, broadcast?.at],
    ['until its block', broadcast?.at, included.blockTime],
    ['until the block was read', included.blockTime, included.at],
    ['in total', (sponsored ?? received).at, included.at],
  ] as const
  const texts = steps.flatMap(([name, begin, end]) =>
    begin === undefined || end === undefined
      ? []
      : [`${spanOf(Math.max(0, Date.parse(end) - Date.parse(begin)))} ${name}`],
  )
  return <p class="muted">Time: {texts.join(', ')}.</p>
}

function detailOf(entry: TimelineEntry, chainId: number): ComponentChildren {
  switch (entry.kind) {
    case 'sponsored':
    case 'refused':
      return (
        <>
          {plainly(entry.message)}{' '}
          {!isReader && (
            <a
              href={hrefOf(`decisions/${entry.decisionId}`, searchWith({ view: 'not-sponsored' }))}
            >
              decision
            </a>
          )}
        </>
      )
    case 'received':
      return entry.keyName === null ? null : `with the key ${entry.keyName}`
    case 'bundled':
      return (
        <>
          {entry.others === 0 ? 'alone' : `with ${entry.others} others`}, executor{' '}
          <Hex value={entry.executor} what="the executor" chainId={chainId} />, nonce {entry.nonce}
        </>
      )
    case 'broadcast':
      return (
        <>
          <Hex value={entry.transactionHash} what="the transaction hash" />
          {entry.noop && ' (takes the bundle back)'}
        </>
      )
    case 'dropped':
    case 'replaced':
      return [entry.code, entry.message].filter((text) => text !== null).join(': ')
    case 'included':
      return (
        <>
          in block {grouped(entry.block)} for <Amount wei={entry.actualGasCost} chainId={chainId} />{' '}
          <Hex
            value={entry.transactionHash}
            what="the transaction hash"
            chainId={chainId}
            kind="tx"
          />
          {entry.revert !== null && <blockquote>{entry.revert}</blockquote>}
        </>
      )
    default:
      return 'bundleId' in entry && entry.bundleId !== null
        ? `from bundle ${shortOf(entry.bundleId)}`
        : null
  }
}
