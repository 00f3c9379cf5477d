import type { ComponentChildren } from 'preact'

type FieldProps = {
  readonly label: string
  readonly hint?: string
  readonly children: ComponentChildren
}

/** A control of a form with its name above and what it means below. */
export function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span class="field-name">{label}</span>
      {children}
      {hint !== undefined && <span class="muted">{hint}</span>}
    </label>
  )
}
