import type { Webhook } from '../../api/shapes.js'
import { Field } from '../../parts/Field.js'

/** How a webhook is asked, as fields of a form. */
export function SettingFields({ webhook }: { readonly webhook: Webhook | undefined }) {
  return (
    <>
      <Field label="What it gets">
        <select name="payload">
          <option value="plain">the data that the client sent along</option>
          <option value="extended" selected={webhook?.payload === 'extended'}>
            that, and the operation with its decoded calls
          </option>
        </select>
      </Field>
      <div class="field-row">
        <Field label="When it fails" hint="no answer, no 2xx, no JSON">
          <select name="onFailure">
            <option value="deny">refuse</option>
            <option value="approve" selected={webhook?.onFailure === 'approve'}>
              approve
            </option>
          </select>
        </Field>
        <Field label="Within, ms" hint="name, connection, answer and retry together">
          <input
            name="deadlineMs"
            type="number"
            min={250}
            max={5000}
            required
            defaultValue={String(webhook?.deadlineMs ?? 2000)}
          />
        </Field>
      </div>
    </>
  )
}

/** The values of these fields as the API takes them. */
export function bodyOfSettings(form: FormData): Readonly<Record<string, unknown>> {
  return {
    payload: form.get('payload'),
    onFailure: form.get('onFailure'),
    deadlineMs: Number(form.get('deadlineMs')),
  }
}
