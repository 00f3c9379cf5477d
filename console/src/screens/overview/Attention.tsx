import { appName, chainName } from '../../api/names.js'
import type { Query } from '../../api/query.js'
import { chooseAccount } from '../../api/session.js'
import type { Chain, Need, Page, Tank } from '../../api/shapes.js'
import { accountId } from '../../api/call.js'
import { Age } from '../../parts/Age.js'
import { spanOf } from '../../parts/format.js'
import { Icon } from '../../parts/Icon.js'
import { useOpen } from '../../parts/useOpen.js'
import { go, hrefOf } from '../../router.js'
import { daysText, versionOf } from '../tanks/Level.js'

type AttentionProps = {
  /** Those of the account; of nothing where the operator looks at all accounts. */
  readonly tanks: Query<Page<Tank>>
  readonly chains: Query<Page<Chain>>
  readonly needs: Query<Page<Need>>
}

/** Days below which a tank needs attention, whatever its alert. */
const FEW_DAYS = 1

/** Lines that are shown at first, so that many low tanks do not push the rest of the screen away. */
const MOST_LINES = 5

/** What needs attention at this moment, each with the place where it is done; or that nothing does. */
export function Attention({ tanks, chains, needs }: AttentionProps) {
  const all = useOpen()
  const low = tanks.data?.items.filter(isLow) ?? []
  const isListed = (id: string) => low.some((tank) => tank.id === id)
  const others = needs.data?.items.filter(({ id }) => !isListed(id)) ?? []
  const silent = chains.data?.items.filter(({ answers }) => !answers) ?? []
  const idle = chains.data?.items.filter(({ answers, bundled }) => answers && !bundled) ?? []
  if (chains.data === undefined) return null
  const isKnown = [chains, tanks, needs].every(({ trouble }) => trouble === undefined)
  if (low.length + silent.length + idle.length + others.length === 0)
    return isKnown && needs.data !== undefined ? (
      <p class="attention is-fine">
        <Icon name="included" /> Nothing needs you: every chain answers and is bundled, no tank is
        low, and no webhook fails.
      </p>
    ) : null
  const lines = [
    ...silent.map(({ chainId, headAge }) => (
      <li key={chainId}>
        <Icon name="failed" />
        <span>
          {chainName(chainId)}: its nodes do not answer
          {headAge !== null && `, the last block was read ${spanOf(headAge)} ago`}.
        </span>
      </li>
    )),
    ...idle.map(({ chainId }) => (
      <li key={chainId}>
        <Icon name="failed" />
        <span>
          Nobody bundles {chainName(chainId)}: operations wait. A process with the role bundler must
          run.
        </span>
      </li>
    )),
    ...others.map((need) => (
      <li key={`${need.kind} ${need.id}`}>
        <Icon name="failed" />
        <span>
          {subjectOf(need)} of <strong>{need.appName}</strong>
          {accountId.value === undefined && ` (${need.accountName})`} {stateOf(need)} for{' '}
          <Age at={need.since} />.
        </span>
        <Place need={need} />
      </li>
    )),
    ...low.map((tank) => (
      <li key={tank.id}>
        <Icon name="failed" />
        <span>
          The tank of <strong>{appName(tank.appId)}</strong> on {chainName(tank.chainId)} (
          {versionOf(tank, chains.data?.items ?? [])}, {tank.kind}) {lasts(tank)}
          {tank.lowSince !== null && (
            <>
              {' '}
              for <Age at={tank.lowSince} />
            </>
          )}
          .
        </span>
        <a href={hrefOf(`tanks/${tank.appId}/${tank.id}`)}>Deposit</a>
      </li>
    )),
  ]
  const shown = all.isOpen ? lines : lines.slice(0, MOST_LINES)
  return (
    <ul class="attention" aria-label="What needs attention">
      {shown}
      {shown.length < lines.length && (
        <li>
          <span>{lines.length - shown.length} more need you.</span>
          <button type="button" onClick={all.open}>
            Show all
          </button>
        </li>
      )}
    </ul>
  )
}

/** The way to the screen where it is put right; an operator enters the account first. */
function Place({ need }: { readonly need: Need }) {
  const href = hrefOf(screens[need.kind], { appId: need.appId })
  if (accountId.value !== undefined) return <a href={href}>Look</a>
  return (
    <button
      type="button"
      onClick={() => {
        chooseAccount(need.accountId)
        go(href)
      }}
    >
      Enter {need.accountName}
    </button>
  )
}

const screens = {
  tank: 'tanks',
  credit: 'tanks',
  webhook: 'webhooks',
  subscription: 'webhooks/events',
} as const

function subjectOf({ kind, host, chainId }: Need): string {
  const chain = chainId === null ? '' : ` on ${chainName(chainId)}`
  if (kind === 'tank') return `The tank${chain}`
  if (kind === 'credit') return `The credit${chain}`
  return kind === 'webhook' ? `The webhook at ${host}` : `The events to ${host}`
}

function stateOf({ kind, reason }: Need): string {
  if (kind === 'tank' || kind === 'credit') return 'is below its alert'
  if (kind === 'webhook') return 'does not answer'
  return reason === null ? 'are not taken' : 'are no longer sent, because they were not taken'
}

function isLow({ lowSince, runway, deposit }: Tank): boolean {
  return lowSince !== null || deposit === '0' || (runway?.days ?? FEW_DAYS) < FEW_DAYS
}

function lasts({ deposit, runway, lowSince }: Tank): string {
  if (deposit === '0') return 'is empty'
  const days = runway?.days ?? undefined
  const span = days === undefined ? '' : `lasts ${daysText(days)}`
  if (lowSince === null) return span
  return span === '' ? 'is below its alert' : `${span} and is below its alert`
}
