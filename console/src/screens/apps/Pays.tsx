import { chainName } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { App, Chain, Page, Policy, Tank, Terms } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import { Loaded } from '../../parts/Loaded.js'
import { hrefOf } from '../../router.js'
import { BudgetUse } from '../policies/BudgetUse.js'
import { byUrgency, Free, kindOf, Lasts, versionOf } from '../tanks/Level.js'

/** What pays for the operations of an app, and for which of them: its tanks, its policies and their budgets. */
export function Pays({ app }: { readonly app: App }) {
  const tanks = useQuery<Page<Tank>>(`/apps/${app.id}/tanks`)
  const chains = useQuery<Page<Chain>>('/chains')
  const policies = useQuery<Page<Policy>>('/policies')
  const own = policies.data?.items.filter(({ appId }) => appId === app.id)
  return (
    <>
      <section class="card" aria-label="What pays">
        <div class="card-head">
          <h2>What pays</h2>
          <a class="button" href={hrefOf('tanks', { new: 'tank', appId: app.id })}>
            New tank
          </a>
        </div>
        <Loaded query={tanks} lines={2}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No tank of its own">
                <p>
                  Nothing is sponsored until the app has a tank, unless the operator gave it credit.
                </p>
              </Empty>
            ) : (
              <ul class="runways">
                {[...items].sort(byUrgency).map((tank) => (
                  <li key={tank.id}>
                    <span>
                      <a href={hrefOf(`tanks/${app.id}/${tank.id}`)}>{chainName(tank.chainId)}</a>{' '}
                      <span class="muted">
                        · {versionOf(tank, chains.data?.items ?? [])} · {kindOf(tank)}
                      </span>
                    </span>
                    <Free tank={tank} />
                    <Lasts tank={tank} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        {own !== undefined && (
          <p class="muted">
            {own.length === 0
              ? 'No policy of its own: all that the policies of the account allow is sponsored. '
              : `For what ${own.length === 1 ? '1 policy allows' : `${own.length} policies allow`}: `}
            {own.map(({ policyId, name }, index) => (
              <span key={policyId}>
                {index > 0 && ', '}
                <a href={hrefOf(`policies/${policyId}`)}>{name}</a>
              </span>
            ))}{' '}
            <a href={hrefOf('policies/new', { appId: app.id })}>New policy</a>
          </p>
        )}
      </section>
      <Budgets app={app} policies={policies.data?.items ?? []} />
    </>
  )
}

type BudgetsProps = { readonly app: App; readonly policies: readonly Policy[] }

/** The use of the budgets that bind an app: of its own policies and of those for all apps. */
function Budgets({ app, policies }: BudgetsProps) {
  const apps = useQuery<Page<App>>('/apps')
  return policies.flatMap(({ policyId, name, appId, active, terms }) =>
    active && (appId === app.id || appId === null) && ((terms as Terms).budgets ?? []).length > 0
      ? [
          <BudgetUse
            key={policyId}
            policyId={policyId}
            policyName={name}
            apps={apps.data?.items ?? [app]}
          />,
        ]
      : [],
  )
}
