import { Field } from '../../parts/Field.js'

/** The address of a server of the app. */
export function UrlField({ placeholder }: { readonly placeholder: string }) {
  return (
    <Field label="URL" hint="https on the public internet, unless the operator allows its host">
      <input name="url" type="url" required maxLength={2048} placeholder={placeholder} />
    </Field>
  )
}
