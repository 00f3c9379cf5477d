import type { ComponentChildren } from 'preact'
import { chainName } from '../../api/names.js'
import { mayAct } from '../../api/role.js'
import type { PolicyCheck, Terms } from '../../api/shapes.js'
import { decimalOf, unitsOf } from '../../parts/amounts.js'
import { DraftInput } from '../../parts/DraftInput.js'
import { Field } from '../../parts/Field.js'
import { localTextOf } from '../../parts/format.js'
import { BudgetRows } from './BudgetRows.js'
import { CallRows } from './CallRows.js'
import { withTerms } from './terms.js'

type FormProps = {
  readonly terms: Terms
  /** The chains that are served. */
  readonly served: readonly number[]
  readonly mistakes: PolicyCheck['errors']
  onChange(terms: Terms): void
}

/** Terms as a form. What it has no field for stays as it is in the JSON. */
export function PolicyForm({ terms, served, mistakes, onChange }: FormProps) {
  const set = (changes: Partial<Record<keyof Terms, unknown>>) =>
    onChange(withTerms(terms, changes))
  const chains = [...new Set([...served, ...(terms.chains ?? [])])]
  const toggle = (id: number, isOn: boolean) => {
    const next = chains.filter((each) => (each === id ? isOn : terms.chains?.includes(each)))
    set({ chains: next.length === 0 ? undefined : next })
  }
  const wrong = (...members: readonly string[]) =>
    mistakes.filter(({ path }) => members.some((each) => path.split('.')[0] === each))
  return (
    <fieldset class="policy-form" disabled={!mayAct('developer')}>
      <Part title="When" mistakes={wrong('chains', 'validFrom', 'validUntil')}>
        <fieldset class="choices">
          <legend class="sr-only">Chains</legend>
          {chains.map((id) => (
            <label key={id} class="check">
              <input
                type="checkbox"
                checked={terms.chains?.includes(id) === true}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
              {chainName(id)}
            </label>
          ))}
          {terms.chains === undefined && <span class="muted">none chosen: on every chain</span>}
        </fieldset>
        <div class="field-row">
          <Field label="From">
            <Time value={terms.validFrom} onChange={(validFrom) => set({ validFrom })} />
          </Field>
          <Field label="Until">
            <Time value={terms.validUntil} onChange={(validUntil) => set({ validUntil })} />
          </Field>
        </div>
      </Part>
      <Part title="Senders" mistakes={wrong('allowSenders', 'denySenders', 'deploymentOnly')}>
        <div class="field-row">
          <Field label="Only these" hint="One address a line; empty = everyone">
            <Addresses
              value={terms.allowSenders ?? []}
              onChange={(list) => set({ allowSenders: list.length === 0 ? undefined : list })}
            />
          </Field>
          <Field label="Never these" hint="They win over the others">
            <Addresses
              value={terms.denySenders ?? []}
              onChange={(list) => set({ denySenders: list.length === 0 ? undefined : list })}
            />
          </Field>
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={terms.deploymentOnly === true}
            onChange={(event) => set({ deploymentOnly: event.currentTarget.checked || undefined })}
          />
          Only the operation that creates the account
        </label>
      </Part>
      <Part title="Calls" mistakes={wrong('calls', 'factories')}>
        <CallRows calls={terms.calls} onChange={(calls) => set({ calls })} />
      </Part>
      <Part title="Fee" mistakes={wrong('maxFeePerGas')}>
        <span class="inline">
          At most{' '}
          <DraftInput
            class="short"
            aria-label="Most gwei per gas"
            inputMode="decimal"
            placeholder="any"
            value={terms.maxFeePerGas === undefined ? '' : decimalOf(terms.maxFeePerGas, 9)}
            onDone={(text) => {
              const gwei = text.trim()
              set({ maxFeePerGas: gwei === '' ? undefined : (unitsOf(gwei, 9) ?? gwei) })
            }}
          />{' '}
          gwei per gas
        </span>
      </Part>
      <Part title="Budgets" mistakes={wrong('budgets')}>
        <BudgetRows
          budgets={terms.budgets ?? []}
          onChange={(budgets) => set({ budgets: budgets.length === 0 ? undefined : budgets })}
        />
      </Part>
      <Part title="Webhook" mistakes={wrong('webhookMode')}>
        <label class="inline">
          Ask the webhooks of the app{' '}
          <select
            value={terms.webhookMode ?? 'request'}
            onChange={(event) =>
              set({ webhookMode: event.currentTarget.value === 'always' ? 'always' : undefined })
            }
          >
            <option value="request">when the request brings data for them</option>
            <option value="always">always</option>
          </select>
        </label>
      </Part>
    </fieldset>
  )
}

type PartProps = {
  readonly title: string
  readonly mistakes: PolicyCheck['errors']
  readonly children: ComponentChildren
}

function Part({ title, mistakes, children }: PartProps) {
  return (
    <fieldset class={mistakes.length > 0 ? 'part is-wrong' : 'part'}>
      <legend>{title}</legend>
      <div class="part-body">{children}</div>
    </fieldset>
  )
}

type AddressesProps = { readonly value: readonly string[]; onChange(list: string[]): void }

function Addresses({ value, onChange }: AddressesProps) {
  return (
    <DraftInput
      lines={2}
      placeholder="0x…"
      value={value.join('\n')}
      onDone={(text) => onChange(text.split(/[\s,;]+/).filter((each) => each !== ''))}
    />
  )
}

type TimeProps = { readonly value: number | undefined; onChange(value: number | undefined): void }

/** A time as Unix seconds, shown in the time of the machine. */
function Time({ value, onChange }: TimeProps) {
  return (
    <input
      type="datetime-local"
      value={localTextOf(value && value * 1_000)}
      onChange={(event) => {
        const time = Date.parse(event.currentTarget.value)
        onChange(Number.isNaN(time) ? undefined : Math.floor(time / 1_000))
      }}
    />
  )
}
