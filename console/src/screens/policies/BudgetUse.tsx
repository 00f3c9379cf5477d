import { useChanges } from '../../api/changes.js'
import { useQuery } from '../../api/query.js'
import type { App, Page, PolicyBudget } from '../../api/shapes.js'
import { decimalOf } from '../../parts/amounts.js'
import { Bar } from '../../parts/Bar.js'
import { etherOf, grouped, momentOf, shortOf } from '../../parts/format.js'
import { Loaded } from '../../parts/Loaded.js'
import { hrefOf } from '../../router.js'

const units = { wei: 'Ξ', usd: 'USD', count: 'operations' } as const
const windows: Readonly<Record<string, string>> = {
  never: 'ever',
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
}

type BudgetUseProps = {
  readonly policyId: string
  /** The name of the policy, on the page of something else. */
  readonly policyName?: string
  readonly apps: readonly App[]
}

/** Usage of the budgets of a policy that is stored, by those who used most. */
export function BudgetUse({ policyId, policyName, apps }: BudgetUseProps) {
  const budgets = useQuery<Page<PolicyBudget>>(`/policies/${policyId}/budgets`)
  useChanges(budgets.refresh, true)
  if (budgets.data?.items.length === 0) return null
  return (
    <section class="card" aria-label={`Usage${policyName ? ` of ${policyName}` : ''}`}>
      <div class="card-head">
        <h2>
          Usage
          {policyName && (
            <>
              {' '}
              of <a href={hrefOf(`policies/${policyId}`)}>{policyName}</a>
            </>
          )}
        </h2>
      </div>
      <Loaded query={budgets} lines={2}>
        {({ items }) =>
          items.map((budget) => (
            <Use key={`${budget.per} ${budget.unit} ${budget.window}`} of={budget} apps={apps} />
          ))
        }
      </Loaded>
    </section>
  )
}

function Use({ of, apps }: { readonly of: PolicyBudget; readonly apps: readonly App[] }) {
  const { per, unit, limit, subjects, until } = of
  const textOf = (amount: bigint) => amountOf(unit, amount)
  const most = BigInt(limit)
  const shown =
    subjects.length > 0 || per === 'sender' || per === 'delegator'
      ? subjects
      : [{ subject: '', used: '0', settled: '0' }]
  return (
    <div class="use">
      <h3>
        {textOf(most)} {units[unit]} {windowText(of)} for each {per}
        {until !== null && (
          <span class="muted">
            {' '}
            resets at{' '}
            <time dateTime={new Date(until * 1_000).toISOString()}>{momentOf(until * 1_000)}</time>
          </span>
        )}
      </h3>
      {shown.length === 0 ? (
        <p class="muted">Nothing was used in this window.</p>
      ) : (
        <div class="bars">
          {shown.map(({ subject, used }) => (
            <Bar
              key={subject}
              name={nameOf(per, subject, apps)}
              used={BigInt(used)}
              limit={most}
              textOf={textOf}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/** Amounts of USD are millionths. */
function amountOf(unit: PolicyBudget['unit'], amount: bigint): string {
  if (unit === 'wei') return etherOf(String(amount))
  return unit === 'usd' ? decimalOf(String(amount), 6) : grouped(amount)
}

function windowText({ window }: PolicyBudget): string {
  const [, seconds] = /^rolling-(\d+)s$/.exec(window) ?? []
  return seconds === undefined ? (windows[window] ?? window) : `in ${grouped(seconds)} s`
}

function nameOf(per: PolicyBudget['per'], subject: string, apps: readonly App[]): string {
  if (per === 'account') return 'The account'
  if (per === 'sender' || per === 'delegator') return shortOf(subject)
  return (
    apps.find(({ id }) => id === subject)?.name ?? (subject === '' ? 'The app' : shortOf(subject))
  )
}
