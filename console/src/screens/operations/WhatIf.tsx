import type { Signal } from '@preact/signals'
import { Field } from '../../parts/Field.js'

/** What is to be otherwise, by the members of the query. */
export type Changes = Readonly<Record<string, string>>

type WhatIfProps = {
  readonly operation: Readonly<Record<string, unknown>>
  readonly hasPaymaster: boolean
  readonly changes: Signal<Changes>
}

/** Fields by the member of the query; its present value stands in each. */
const limits = [
  ['callGasLimit', 'callGasLimit'],
  ['verificationGasLimit', 'verificationGasLimit'],
  ['maxFeePerGas', 'maxFeePerGas, wei'],
] as const
const ofPaymaster = [
  ['paymasterVerificationGasLimit', 'paymasterVerificationGasLimit'],
  ['paymasterPostOpGasLimit', 'paymasterPostOpGasLimit'],
] as const
const others = [
  ['blockTime', 'Block time, Unix seconds'],
  ['callData', 'callData'],
  ['paymasterAndData', 'paymasterAndData, 0x for none'],
] as const

/** Runs the operation again with other values. */
export function WhatIf({ operation, hasPaymaster, changes }: WhatIfProps) {
  const fields = [...limits, ...(hasPaymaster ? ofPaymaster : []), ...others]
  const run = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const filled = fields.flatMap(([name]) => {
      const value = String(form.get(name) ?? '').trim()
      return value === '' ? [] : [[name, value]]
    })
    changes.value = Object.fromEntries(filled)
  }
  return (
    <details class="what-if">
      <summary>What if…</summary>
      <form onSubmit={run}>
        {fields.map(([name, label]) => (
          <Field key={name} label={label}>
            <input name={name} autocomplete="off" placeholder={presentOf(operation[name])} />
          </Field>
        ))}
        <div class="actions">
          <button type="submit">Run it so</button>
          {Object.keys(changes.value).length > 0 && (
            <button
              type="reset"
              onClick={() => {
                changes.value = {}
              }}
            >
              As it was
            </button>
          )}
        </div>
      </form>
    </details>
  )
}

function presentOf(value: unknown): string {
  if (typeof value !== 'string') return ''
  return /^0x[0-9a-f]{1,16}$/.test(value) ? String(BigInt(value)) : value.slice(0, 42)
}
