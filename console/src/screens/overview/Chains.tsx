import { useChanges } from '../../api/changes.js'
import { type Query, useQuery } from '../../api/query.js'
import { session } from '../../api/session.js'
import type { Chain, Executor, Page } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { grouped, momentOf, spanOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Loaded } from '../../parts/Loaded.js'

/** The chains that are served; for the operator with their executors. */
export function Chains({ chains }: { readonly chains: Query<Page<Chain>> }) {
  return (
    <section class="card" aria-label="Chains">
      <h2>Chains</h2>
      <Loaded query={chains} lines={3}>
        {({ items }) => (
          <ul class="runways">
            {items.map((chain) => (
              <li key={chain.chainId}>
                <span>
                  {chain.name} <span class="muted">· {versionsOf(chain)}</span>
                  {chain.waits !== null && <span class="tag doubt">{chain.waits}</span>}
                  {chain.coming && (
                    <span class="muted">
                      {' '}
                      · {chain.coming.fork} from {momentOf(chain.coming.at)}
                    </span>
                  )}
                </span>
                <span>{headOf(chain)}</span>
                <span class={chain.answers && chain.bundled ? 'muted' : 'tag bad'}>
                  {chain.answers ? (chain.bundled ? 'bundled' : 'not bundled') : 'node away'}
                </span>
              </li>
            ))}
            {session.value?.user.isOperator &&
              items.map(({ chainId }) => <Executors key={chainId} chainId={chainId} />)}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

function headOf({ head, headAge, answers }: Chain): string {
  if (head === null) return 'no block'
  return `block ${grouped(head)}${answers || headAge === null ? '' : `, ${spanOf(headAge)} old`}`
}

function versionsOf({ entryPoints }: Chain): string {
  return entryPoints.map(({ version }) => `v${version}`).join(' ')
}

function Executors({ chainId }: { readonly chainId: number }) {
  const { data, refresh } = useQuery<Page<Executor>>(`/chains/${chainId}/executors`)
  useChanges(refresh, true)
  return (
    <>
      {data?.items.map(({ address, role, state, balance, inFlight }) => (
        <li key={address}>
          <span>
            {role} <Hex value={address} what={`the ${role}`} />
          </span>
          <Amount chainId={chainId} wei={balance} />
          <span class={state === 'paused' ? 'tag doubt' : 'muted'}>
            {state}
            {inFlight > 0 && `, ${inFlight} in flight`}
          </span>
        </li>
      ))}
    </>
  )
}
