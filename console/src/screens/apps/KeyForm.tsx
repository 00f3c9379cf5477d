import type { Key } from '../../api/shapes.js'
import { Field } from '../../parts/Field.js'
import { localTextOf } from '../../parts/format.js'

const scopes = [
  ['bundler', 'bundler: send, estimate, look up'],
  ['paymaster', 'paymaster: have operations paid for'],
] as const

const quotas = [
  ['perSecond', 'a second'],
  ['perMinute', 'a minute'],
  ['perDay', 'a day'],
] as const

/** Name and limits of a key; empty fields limit nothing. */
export function KeyForm({ of }: { readonly of?: Key }) {
  return (
    <>
      <Field label="Name">
        <input
          name="name"
          required
          maxLength={100}
          autocomplete="off"
          defaultValue={of?.name ?? ''}
        />
      </Field>
      <fieldset>
        <legend>May be used for</legend>
        {scopes.map(([scope, text]) => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              name="scopes"
              value={scope}
              defaultChecked={of === undefined || of.scopes.includes(scope)}
            />
            {text}
          </label>
        ))}
      </fieldset>
      <details open={of !== undefined}>
        <summary>Limits</summary>
        <div class="form-more">
          <fieldset>
            <legend>Requests at most; empty: any number</legend>
            <div class="field-row">
              {quotas.map(([name, text]) => (
                <Field key={name} label={text}>
                  <input
                    name={name}
                    type="number"
                    min={1}
                    max={1_000_000_000}
                    defaultValue={String(of?.quotas?.[name] ?? '')}
                  />
                </Field>
              ))}
            </div>
          </fieldset>
          <Field label="Only from these origins" hint="Such as https://dapp.example, one a line.">
            <textarea name="allowedOrigins" rows={2} defaultValue={linesOf(of?.allowedOrigins)} />
          </Field>
          <Field label="Only from these addresses" hint="IP addresses or CIDR ranges, one a line.">
            <textarea name="allowedIps" rows={2} defaultValue={linesOf(of?.allowedIps)} />
          </Field>
          <Field
            label="Only these methods"
            hint="JSON-RPC methods, one a line. Empty: all of its use."
          >
            <textarea name="methods" rows={2} defaultValue={linesOf(of?.methods)} />
          </Field>
          <Field label="Ends" hint="Empty: never.">
            <input
              name="expiresAt"
              type="datetime-local"
              defaultValue={localTextOf(of?.expiresAt)}
            />
          </Field>
        </div>
      </details>
    </>
  )
}

/** The body of a request from the form. */
export function keyOfForm(form: FormData) {
  const list = (name: string): readonly string[] | null => {
    const lines = String(form.get(name))
      .split(/[\s,]+/)
      .filter((line) => line !== '')
    return lines.length === 0 ? null : lines
  }
  const limits = Object.fromEntries(
    quotas.flatMap(([name]) => {
      const text = String(form.get(name))
      return text === '' ? [] : [[name, Number(text)]]
    }),
  )
  const ends = String(form.get('expiresAt'))
  return {
    name: String(form.get('name')),
    scopes: form.getAll('scopes').map(String),
    methods: list('methods'),
    allowedOrigins: list('allowedOrigins'),
    allowedIps: list('allowedIps'),
    expiresAt: ends === '' ? null : new Date(ends).toISOString(),
    quotas: Object.keys(limits).length === 0 ? null : limits,
  }
}

function linesOf(items: readonly string[] | null | undefined): string {
  return (items ?? []).join('\n')
}
