import type { Query } from '../../api/query.js'
import type { Chain, Page, Tank } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Icon } from '../../parts/Icon.js'
import { hrefOf } from '../../router.js'
import { daysText, versionOf } from '../tanks/Level.js'

type AttentionProps = {
  readonly tanks: Query<Page<Tank>>
  readonly chains: Query<Page<Chain>>
  appName(id: string): string
}

/** Days below which a tank needs somebody, whatever its alarm. */
const FEW_DAYS = 1

/** What needs somebody at this moment, each with the place where it is done; or that nothing does. */
export function Attention({ tanks, chains, appName }: AttentionProps) {
  const low = tanks.data?.items.filter(isLow) ?? []
  const silent = chains.data?.items.filter(({ head }) => head === null) ?? []
  const idle = chains.data?.items.filter(({ head, bundled }) => head !== null && !bundled) ?? []
  if (chains.data === undefined) return null
  const isKnown = chains.trouble === undefined && tanks.trouble === undefined
  if (low.length + silent.length + idle.length === 0)
    return isKnown ? (
      <p class="attention is-fine">
        <Icon name="included" /> Nothing needs you: every chain answers and is bundled
        {tanks.data !== undefined && ', and no tank is low'}.
      </p>
    ) : null
  return (
    <ul class="attention" aria-label="What needs somebody">
      {low.map((tank) => (
        <li key={tank.id}>
          <Icon name="failed" />
          <span>
            The tank of <strong>{appName(tank.appId)}</strong> on chain {tank.chainId} (
            {versionOf(tank, chains.data?.items ?? [])}, {tank.kind}) {lasts(tank)}
            {tank.lowSince !== null && (
              <>
                , low for <Age at={tank.lowSince} />
              </>
            )}
            .
          </span>
          <a href={hrefOf(`tanks/${tank.appId}/${tank.id}`)}>Deposit</a>
        </li>
      ))}
      {silent.map(({ chainId }) => (
        <li key={chainId}>
          <Icon name="failed" />
          <span>No new block of chain {chainId} was read in time: its nodes do not answer.</span>
        </li>
      ))}
      {idle.map(({ chainId }) => (
        <li key={chainId}>
          <Icon name="failed" />
          <span>
            Nobody bundles chain {chainId}: operations wait. A process with the role bundler must
            run.
          </span>
        </li>
      ))}
    </ul>
  )
}

function isLow({ lowSince, runway, deposit }: Tank): boolean {
  return lowSince !== null || deposit === '0' || (runway?.days ?? FEW_DAYS) < FEW_DAYS
}

function lasts({ deposit, runway }: Tank): string {
  if (deposit === '0') return 'is empty'
  return runway === null || runway.days === null
    ? 'is below its alarm'
    : `lasts ${daysText(runway.days)}`
}
