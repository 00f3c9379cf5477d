import { decimalOf, unitsOf } from '../../parts/amounts.js'
import { DraftInput } from '../../parts/DraftInput.js'
import { Icon } from '../../parts/Icon.js'
import { Options } from '../../parts/Options.js'
import type { Budget } from './terms.js'

type BudgetRowsProps = {
  readonly budgets: readonly Budget[]
  onChange(budgets: readonly Budget[]): void
}

const subjects = ['operation', 'sender', 'delegator', 'app', 'account'] as const
const windows = ['never', 'hour', 'day', 'week', 'month'] as const
const windowNames = {
  never: 'ever',
  hour: 'each hour',
  day: 'each day',
  week: 'each week',
  month: 'each month',
} as const
const units = { wei: 'Ξ', usd: 'USD', count: 'operations' } as const

type Unit = keyof typeof units

/** How much is sponsored: rows of subject, limit and window. */
export function BudgetRows({ budgets, onChange }: BudgetRowsProps) {
  const put = (at: number, budget: Budget) =>
    onChange(budgets.map((each, place) => (place === at ? budget : each)))
  return (
    <>
      {budgets.length === 0 && <p class="muted">No limit.</p>}
      {budgets.map((budget, at) => (
        <div key={at} class="rule">
          <label class="inline">
            Each{' '}
            <select
              aria-label={`Subject of budget ${at + 1}`}
              value={budget.per}
              onChange={(event) => put(at, withSubject(budget, event.currentTarget.value))}
            >
              {subjects.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <DraftInput
            class="short"
            aria-label={`Limit of budget ${at + 1}`}
            inputMode="decimal"
            value={textOf(budget.limit)}
            onDone={(text) =>
              put(at, {
                ...budget,
                limit: limitOf(unitOf(budget), text),
              } as Budget)
            }
          />
          <select
            aria-label={`Unit of budget ${at + 1}`}
            value={unitOf(budget)}
            onChange={(event) => {
              const limit = limitOf(event.currentTarget.value as Unit, textOf(budget.limit))
              put(at, { ...budget, limit } as Budget)
            }}
          >
            <Options
              of={Object.entries(units).filter(
                ([unit]) => budget.per !== 'operation' || unit !== 'count',
              )}
            />
          </select>
          {budget.per !== 'operation' && (
            <Window
              at={at}
              value={budget.window}
              onChange={(window) => put(at, { ...budget, window } as Budget)}
            />
          )}
          <button
            type="button"
            class="plain"
            aria-label={`Take budget ${at + 1} away`}
            onClick={() => onChange(budgets.filter((_, place) => place !== at))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div class="row">
        <button
          type="button"
          onClick={() =>
            onChange([...budgets, { per: 'sender', limit: { count: 20 }, window: 'day' }])
          }
        >
          Add a budget
        </button>
      </div>
    </>
  )
}

type WindowProps = {
  readonly at: number
  readonly value: Budget['window']
  onChange(window: Budget['window']): void
}

function Window({ at, value = 'never', onChange }: WindowProps) {
  const isRolling = typeof value === 'object'
  return (
    <>
      <select
        aria-label={`Window of budget ${at + 1}`}
        value={isRolling ? 'rolling' : value}
        onChange={(event) => {
          const name = event.currentTarget.value
          const aligned = windows.find((each) => each === name)
          onChange(aligned ?? { rollingSeconds: 3_600 })
        }}
      >
        <Options of={windows.map((name) => [name, windowNames[name]])} />
        <option value="rolling">in the last</option>
      </select>
      {isRolling && (
        <span class="inline">
          <DraftInput
            class="short"
            type="number"
            min={60}
            max={2_678_400}
            aria-label={`Seconds of budget ${at + 1}`}
            value={String(value.rollingSeconds)}
            onDone={(text) => onChange({ rollingSeconds: Number(text) })}
          />{' '}
          s
        </span>
      )}
    </>
  )
}

function unitOf({ limit }: Budget): Unit {
  return 'wei' in limit ? 'wei' : 'usd' in limit ? 'usd' : 'count'
}

function textOf(limit: Budget['limit']): string {
  if ('wei' in limit) return decimalOf(String(limit.wei), 18)
  return String('usd' in limit ? limit.usd : limit.count)
}

/** A limit of a unit as the API takes it; what is no number stays, so that the service says so. */
function limitOf(unit: Unit, text: string): unknown {
  const value = text.trim()
  if (unit === 'wei') return { wei: unitsOf(value, 18) ?? value }
  if (unit === 'usd') return { usd: value }
  return { count: /^\d+$/.test(value) ? Number(value) : value }
}

/** The budget of another subject; one of an operation has no window and no count. */
function withSubject({ limit, ...budget }: Budget, per: string): Budget {
  if (per === 'operation') {
    const amount = 'count' in limit ? { wei: '10000000000000000' } : limit
    return { per: 'operation', limit: amount } as Budget
  }
  const window = 'window' in budget && budget.window !== undefined ? budget.window : 'day'
  return { per, limit, window } as Budget
}
