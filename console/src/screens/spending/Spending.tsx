import { pathOf } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { chainName, coinOf, coinsOfAll, pricedOf, usdOf, usdOfAll } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { Spend, SpendAnswer } from '../../api/shapes.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { decimalOf } from '../../parts/amounts.js'
import { ndjsonOf } from '../../parts/csv.js'
import { Empty } from '../../parts/Empty.js'
import { grouped, momentOf, usdText } from '../../parts/format.js'
import { Loaded } from '../../parts/Loaded.js'
import { Options } from '../../parts/Options.js'
import { saveCsv, saveText } from '../../parts/saveFile.js'
import { type Column, Table } from '../../parts/Table.js'
import { Tabs } from '../../parts/Tabs.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import {
  byWorth,
  changeBetween,
  type Grouping,
  groupings,
  groupsOf,
  monthsUntil,
  spanBefore,
  spanOfMonth,
  wasteOf,
} from './spending.js'
import { StatementPage } from './StatementPage.js'
import { Statements } from './Statements.js'

/** Months that are offered. */
const MONTHS = 12

const titles = { app: 'By app', policy: 'By policy', chain: 'By chain', day: 'By day' } as const

type Row = {
  readonly key: string
  readonly name: string
  readonly lines: readonly Spend[]
  /** The lines of the same thing in the month before. */
  readonly before: readonly Spend[]
}

/** What sponsorships cost, and the signed statements of it. */
export function Spending() {
  const [, id] = place.value.path.split('/')
  return id === undefined ? <Month /> : <StatementPage key={id} id={id} />
}

/** What sponsorships cost in a month, compared with the one before; all of it as a file. */
function Month() {
  const { search } = place.value
  const now = new Date()
  const months = monthsUntil(now, MONTHS)
  const month = months.find((each) => each === search.get('month')) ?? monthsUntil(now, 1)[0] ?? ''
  const grouping = groupings.find((each) => each === search.get('by')) ?? 'app'
  const span = spanOfMonth(month)
  const earlier = spanBefore(span, now)
  const query = queryOf(span)
  const spend = useQuery<SpendAnswer>('/spend', query)
  const before = useQuery<SpendAnswer>('/spend', queryOf(earlier))
  const lines = spend.data?.items ?? []
  return (
    <section class="side-list">
      <div class="row">
        <h1>Spending</h1>
        <span class="grow" />
        <select
          aria-label="Month"
          value={month}
          onChange={(event) =>
            go(hrefOf('spending', searchWith({ month: event.currentTarget.value })))
          }
        >
          <Options of={months.map((each) => [each, each])} />
        </select>
        <button
          type="button"
          class="as-code"
          disabled={lines.length === 0}
          onClick={() => saveCsv(lines.map(fileLine), `spending-${month}.csv`)}
        >
          CSV
        </button>
        <button
          type="button"
          class="as-code"
          disabled={lines.length === 0}
          onClick={() => saveText(ndjsonOf(lines.map(fileLine)), `spending-${month}.ndjson`)}
        >
          NDJSON
        </button>
        <AsCodeButton title="Spending as code" codes={[['curl', curl(pathOf('/spend', query))]]} />
      </div>
      <p class="muted">
        What included operations cost their sponsors, by the day (UTC) on which they were signed.
        Compared with as many days of the month before; USD at the price that is configured now.
      </p>
      {spend.data !== undefined && new Date(spend.data.keptSince) > earlier.from && (
        <p class="warn">
          Records before {momentOf(spend.data.keptSince)} are not kept: their cost is not in these
          figures.
        </p>
      )}
      <Tabs
        label="Spending"
        tabs={groupings.map((each) => ({
          name: titles[each],
          href: hrefOf('spending', searchWith({ by: each })),
          isHere: each === grouping,
        }))}
      />
      <div class="list">
        <Loaded query={spend} lines={5}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="Nothing was spent in this month">
                <p>
                  A sponsorship counts once its operation is included.{' '}
                  <a href={hrefOf('start')}>Send one</a>
                </p>
              </Empty>
            ) : (
              <>
                <Table
                  label="Spending"
                  columns={columns}
                  rows={rowsOf(items, before.data?.items ?? [], grouping)}
                  keyOf={({ key }) => key}
                  isTotal={({ key }) => key === TOTAL}
                />
                <Waste lines={items} />
              </>
            )
          }
        </Loaded>
      </div>
      <Statements month={month} />
    </section>
  )
}

/** What unused gas is, and what to do about it; nothing where none was charged. */
function Waste({ lines }: { readonly lines: readonly Spend[] }) {
  const { costs, measured, operations } = wasteOf(lines)
  if (costs.length === 0) return null
  return (
    <p class="muted">
      About {coinsOfAll(costs)} was charged for unused gas: from v0.7 on, the EntryPoint takes a
      tenth of what callGasLimit leaves unused. To save it, send the callGasLimit of the estimate.
      {measured < operations &&
        ` Known of ${grouped(measured)} of ${grouped(operations)} operations.`}
    </p>
  )
}

const TOTAL = 'total'

function queryOf({ from, until }: { readonly from: Date; readonly until: Date }) {
  return { from: from.toISOString(), until: until.toISOString() }
}

/** The groups, those that cost most first, days in their order, and the total. */
function rowsOf(
  lines: readonly Spend[],
  earlier: readonly Spend[],
  grouping: Grouping,
): readonly Row[] {
  const past = groupsOf(earlier, grouping)
  const rows = [...groupsOf(lines, grouping)].map(([key, group]): Row => {
    const [first] = group
    return {
      key,
      name: first === undefined ? key : nameOf(first, grouping),
      lines: group,
      before: past.get(key) ?? [],
    }
  })
  if (grouping !== 'day') rows.sort((a, b) => byWorth(pricedOf(a.lines), pricedOf(b.lines)))
  return [...rows, { key: TOTAL, name: 'Total', lines, before: earlier }]
}

function nameOf(line: Spend, grouping: Grouping): string {
  if (grouping === 'app') return line.appName
  if (grouping === 'policy') return line.policyName ?? 'no policy'
  return grouping === 'chain' ? chainName(line.chainId) : line.day
}

function usdShown(lines: readonly Spend[]): string {
  const usd = usdOfAll(lines)
  return usd === undefined ? 'no price' : usdText(usd)
}

const columns: readonly Column<Row>[] = [
  { name: 'What', cell: ({ name }) => <strong>{name}</strong> },
  {
    name: 'Operations',
    shown: 'wide',
    isNumber: true,
    cell: ({ lines }) =>
      grouped(lines.reduce((sum, { operations }) => sum + Number(operations), 0)),
  },
  { name: 'Cost', isNumber: true, cell: ({ lines }) => coinsOfAll(lines) },
  {
    name: 'Unused gas',
    shown: 'wide',
    isNumber: true,
    cell: ({ lines }) => {
      const { costs } = wasteOf(lines)
      return costs.length === 0 ? '–' : `about ${coinsOfAll(costs)}`
    },
  },
  { name: 'USD', isNumber: true, cell: ({ lines }) => usdShown(lines) },
  {
    name: 'Month before',
    shown: 'widest',
    isNumber: true,
    cell: ({ before }) => (before.length === 0 ? '–' : coinsOfAll(before)),
  },
  {
    name: 'Change',
    shown: 'wide',
    isNumber: true,
    cell: ({ lines, before }) => changeBetween(pricedOf(lines), pricedOf(before)) || '–',
  },
]

/** A line of the file: amounts whole, in wei and in the coin. */
function fileLine({ wei, chainId, ...line }: Spend): Readonly<Record<string, unknown>> {
  const usd = usdOf(BigInt(wei), chainId)
  return {
    day: line.day,
    app: line.appName,
    chain: chainName(chainId),
    policy: line.policyName,
    operations: line.operations,
    amount: decimalOf(wei, 18),
    coin: coinOf(chainId) === 'Ξ' ? 'ETH' : coinOf(chainId),
    usd: usd?.toFixed(6),
    wei,
    wastedWei: line.wastedWei,
    measured: line.measured,
    appId: line.appId,
    chainId,
    policyId: line.policyId,
  }
}
