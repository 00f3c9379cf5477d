import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import type { App, Page, Policy, Terms } from '../../api/shapes.js'
import { useKeys } from '../../keys.js'
import { ActButton } from '../../parts/ActButton.js'
import { Age } from '../../parts/Age.js'
import { Empty } from '../../parts/Empty.js'
import { ListActs } from '../../parts/ListActs.js'
import { LoadedRows } from '../../parts/LoadedRows.js'
import type { Column } from '../../parts/Table.js'
import { go, hrefOf } from '../../router.js'
import { partsOf } from './terms.js'

/** All policies in the order in which they are asked. */
export function PolicyList({ apps }: { readonly apps: readonly App[] }) {
  const policies = useQuery<Page<Policy>>('/policies')
  const make = () => go(hrefOf('policies/new'))
  useKeys('Policies', mayAct('admin') ? { n: ['new policy', make] } : {})
  const nameOf = (id: string | null) =>
    id === null ? 'all apps' : (apps.find((app) => app.id === id)?.name ?? id.slice(0, 8))
  return (
    <div class="screen">
      <div class="row">
        <h1>Policies</h1>
        <span class="grow" />
        <ListActs
          path="/policies"
          title="Policies as code"
          command="purser policy list --account ACCOUNT"
        />
        <ActButton needs="admin" look="primary" onClick={make}>
          New policy
        </ActButton>
      </div>
      <section class="card flush" aria-label="Policies">
        <LoadedRows
          query={policies}
          lines={5}
          label="Policies"
          columns={columnsOf(nameOf)}
          keyOf={({ policyId }) => policyId}
          hrefOf={({ policyId }) => hrefOf(`policies/${policyId}`)}
          isOver={({ active }) => !active}
          empty={
            <Empty title="No policy: everything is sponsored">
              <p>
                A policy says whom and what an app sponsors: chains, senders, calls, fees, and
                budgets of wei, USD or operations. Without one, anyone with a key can spend what is
                in the tank.
              </p>
            </Empty>
          }
        />
      </section>
      <p class="muted">
        Policies of all apps must pass, and then the first policy of the app that passes pays. An
        operation that no policy passes is refused with the reason of each.
      </p>
    </div>
  )
}

function columnsOf(nameOf: (id: string | null) => string): readonly Column<Policy>[] {
  return [
    { name: 'Policy', cell: ({ name }) => <strong>{name}</strong> },
    {
      name: 'State',
      cell: ({ active }) =>
        active ? <span class="tag good">on</span> : <span class="tag">off</span>,
    },
    { name: 'Applies to', cell: ({ appId }) => nameOf(appId) },
    {
      name: 'Sponsors only',
      cell: ({ terms }) => {
        const text = partsOf(terms as Terms).join(' · ') || 'no restriction'
        return (
          <span class="cut" title={text}>
            {text}
          </span>
        )
      },
    },
    { name: 'Order', shown: 'wide', isNumber: true, cell: ({ position }) => position },
    { name: 'Changed', shown: 'wide', cell: ({ updatedAt }) => <Age at={updatedAt} /> },
  ]
}
