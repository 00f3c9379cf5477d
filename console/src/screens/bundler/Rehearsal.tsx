import { useSignal } from '@preact/signals'
import { call, pathOf } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { appName } from '../../api/names.js'
import type { Chain, Rehearsal as Answer } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { AsCodeButton } from '../../parts/AsCodeButton.js'
import { grouped } from '../../parts/format.js'
import { saveCsv } from '../../parts/saveFile.js'
import { Table } from '../../parts/Table.js'
import { toast } from '../../parts/toasts.js'
import { daysText } from '../tanks/Level.js'

/** What the next rules of a chain make of the operations of the last week. */
export function Rehearsal({ chain }: { readonly chain: Chain }) {
  const answer = useSignal<Answer | undefined>(undefined)
  const isBusy = useSignal(false)
  const { chainId, coming } = chain
  const path = `/chains/${chainId}/rehearsal`
  const query = { fork: coming?.fork ?? 'amsterdam' }
  const run = async () => {
    isBusy.value = true
    try {
      answer.value = await call<Answer>('GET', path, { query })
    } catch (error) {
      toast((error as Error).message)
    }
    isBusy.value = false
  }
  const made = answer.value
  return (
    <section class="card flush" aria-label="Rehearsal">
      <div class="card-head">
        <h2>Rehearsal of {query.fork.replace(/^./, (first) => first.toUpperCase())}</h2>
        {made && (
          <button
            type="button"
            class="as-code"
            disabled={made.operations.length === 0}
            onClick={() => saveCsv(made.operations, `rehearsal-${query.fork}-${chainId}.csv`)}
          >
            CSV
          </button>
        )}
        <AsCodeButton
          title="Rehearsal"
          codes={[
            ['curl', curl(pathOf(path, query))],
            ['command', `purser rehearse --chain ${chainId} --fork ${query.fork}`],
          ]}
        />
        <button type="button" disabled={isBusy.value} onClick={run}>
          {isBusy.value ? 'Running' : 'Rehearse'}
        </button>
      </div>
      {made ? (
        <Result chainId={chainId} made={made} />
      ) : (
        <p class="muted">
          Runs operations of the last 7 days by the rules of this fork, and shows what would fail,
          what they would cost, and which budgets and tanks would run out.
        </p>
      )}
    </section>
  )
}

function Result({ chainId, made }: { readonly chainId: number; readonly made: Answer }) {
  const known = made.operations.filter(({ state }) => state !== null)
  const approximate = known.filter(({ state }) => state === 'newest')
  const failing = known.filter(({ code }) => code !== null)
  return (
    <>
      <p class="muted">
        {grouped(known.length)} of {grouped(made.recorded)} operations were run
        {approximate.length > 0 &&
          `, ${grouped(approximate.length)} of them on the newest state, which is approximate`}
        . As they were signed, {grouped(failing.length)} would fail.
      </p>
      <Table
        label="Costs"
        columns={[
          { name: 'App', cell: (row) => row.appName },
          {
            name: 'Policy',
            shown: 'wide',
            cell: (row) => row.policyName ?? (row.paidBy === 'sender' ? 'senders pay' : '–'),
          },
          { name: 'Failing', shown: 'wide', isNumber: true, cell: (row) => grouped(row.failing) },
          {
            name: 'Cost',
            isNumber: true,
            cell: (row) => <Amount chainId={chainId} wei={row.cost} />,
          },
          {
            name: 'Forecast',
            isNumber: true,
            cell: ({ forecast }) =>
              forecast === null ? 'not known' : <Amount chainId={chainId} wei={forecast} />,
          },
        ]}
        rows={made.spending}
        keyOf={(row) => `${row.appId} ${row.policyId} ${row.paidBy}`}
      />
      {made.budgets.length > 0 && (
        <Table
          label="Budgets that would not be enough"
          columns={[
            {
              name: 'Budget',
              cell: (row) => `${row.policyName ?? row.policyId}: ${row.window} per ${row.per}`,
            },
            { name: 'Subject', shown: 'wide', cell: ({ subject }) => subject || '–' },
            { name: 'Limit', isNumber: true, cell: (row) => inUnit(row, 'limit') },
            { name: 'Forecast', isNumber: true, cell: (row) => inUnit(row, 'forecast') },
          ]}
          rows={made.budgets}
          keyOf={(row) => `${row.policyId} ${row.per} ${row.window} ${row.unit} ${row.subject}`}
        />
      )}
      {made.funds.length > 0 && (
        <Table
          label="Tanks and credit"
          columns={[
            {
              name: 'Fund',
              cell: ({ kind, appId }) =>
                `${kind} of ${appId === null ? 'the operator' : appName(appId)}`,
            },
            {
              name: 'Available',
              shown: 'wide',
              isNumber: true,
              cell: ({ available }) => <Amount chainId={chainId} wei={available} />,
            },
            { name: 'Lasts', isNumber: true, cell: ({ now }) => lastsText(now.days) },
            {
              name: 'Forecast',
              isNumber: true,
              cell: ({ forecast, low }) => (
                <span class={low ? 'tag bad' : undefined}>{lastsText(forecast.days)}</span>
              ),
            },
          ]}
          rows={made.funds}
          keyOf={({ id }) => id}
        />
      )}
    </>
  )

  function inUnit(row: Answer['budgets'][number], member: 'limit' | 'forecast') {
    return row.unit === 'wei' ? (
      <Amount chainId={chainId} wei={row[member]} />
    ) : (
      `$${(Number(row[member]) / 1e6).toFixed(2)}`
    )
  }
}

function lastsText(days: number | null): string {
  return days === null ? 'no end' : daysText(days)
}
