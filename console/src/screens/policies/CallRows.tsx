import type { Terms } from '../../api/shapes.js'
import { decimalOf, unitsOf } from '../../parts/amounts.js'
import { DraftInput } from '../../parts/DraftInput.js'
import { Icon } from '../../parts/Icon.js'
import type { Call } from './terms.js'

type Calls = NonNullable<Terms['calls']>
type CallRowsProps = {
  readonly calls: Calls | undefined
  onChange(calls: Calls | undefined): void
}

const looser = [
  ['allowNested', 'Calls within calls (multicall)'],
  ['allowUnknown', 'Call data of accounts that cannot be read'],
  ['allowDelegateCalls', 'Delegate calls'],
] as const

/** The calls that are sponsored: any, or a list of targets and functions. */
export function CallRows({ calls, onChange }: CallRowsProps) {
  const rows = calls?.allow ?? []
  const put = (at: number, changes: Partial<Call>) =>
    onChange({
      ...calls,
      allow: rows.map((row, place) => (place === at ? without({ ...row, ...changes }) : row)),
    })
  const remove = (at: number) => {
    const allow = rows.filter((_, place) => place !== at)
    onChange(allow.length === 0 ? undefined : { ...calls, allow })
  }
  return (
    <>
      {calls === undefined && <p class="muted">Any call is sponsored.</p>}
      {rows.map((row, at) => (
        <div key={at} class="rule">
          <DraftInput
            aria-label={`Target of call ${at + 1}`}
            placeholder="0x…, any or sender"
            value={row.target}
            onDone={(text) => put(at, { target: text.trim() })}
          />
          <DraftInput
            aria-label={`Function of call ${at + 1}`}
            placeholder="any function"
            value={row.function === null ? 'plain transfer' : (row.function ?? '')}
            onDone={(text) => put(at, { function: functionOf(text) })}
          />
          <span class="inline">
            ≤{' '}
            <DraftInput
              class="short"
              aria-label={`Most ether of call ${at + 1}`}
              inputMode="decimal"
              placeholder="any"
              value={row.maxValue === undefined ? '' : decimalOf(row.maxValue, 18)}
              onDone={(text) => {
                const ether = text.trim()
                put(at, { maxValue: ether === '' ? undefined : (unitsOf(ether, 18) ?? ether) })
              }}
            />{' '}
            Ξ
          </span>
          <button
            type="button"
            class="plain"
            aria-label={`Take call ${at + 1} away`}
            onClick={() => remove(at)}
          >
            <Icon name="close" />
          </button>
          {row.where !== undefined && Object.keys(row.where).length > 0 && (
            <p class="muted">
              where {Object.keys(row.where).length} parameters are bound, in the JSON
            </p>
          )}
        </div>
      ))}
      <div class="row">
        <button
          type="button"
          onClick={() => onChange({ ...calls, allow: [...rows, { target: 'any' }] })}
        >
          {calls === undefined ? 'Only certain calls' : 'Add a call'}
        </button>
      </div>
      {calls !== undefined && (
        <div class="choices">
          {looser.map(([name, text]) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={calls[name] === true}
                onChange={(event) =>
                  onChange(without({ ...calls, [name]: event.currentTarget.checked || undefined }))
                }
              />
              {text}
            </label>
          ))}
        </div>
      )}
    </>
  )
}

/** Without the members that are undefined, which JSON does not know. */
function without<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value
}

/** The function that a text names: none = any. */
function functionOf(text: string): Call['function'] {
  const name = text.trim()
  if (name === '') return undefined
  return /^plain( transfer)?$/i.test(name) ? null : name
}
