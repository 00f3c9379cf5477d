import { useSignal } from '@preact/signals'

type DraftInputProps = {
  readonly class?: string
  readonly 'aria-label'?: string
  readonly inputMode?: 'decimal'
  readonly type?: 'number'
  readonly min?: number
  readonly max?: number
  readonly placeholder?: string
  readonly value: string
  /** More than one line. */
  readonly lines?: number
  /** The text when the user is done with it: left the field, or pressed Enter. */
  onDone(text: string): void
}

/** A field that keeps what is being typed to itself until the user is done, whatever happens around it. */
export function DraftInput({ value, lines, onDone, ...attributes }: DraftInputProps) {
  const typed = useSignal<string | undefined>(undefined)
  const events = {
    value: typed.value ?? value,
    spellcheck: false,
    onInput: (event: Event) => {
      typed.value = (event.currentTarget as HTMLInputElement).value
    },
    onChange: () => {
      const text = typed.value
      typed.value = undefined
      if (text !== undefined) onDone(text)
    },
  }
  if (lines === undefined) return <input {...attributes} {...events} />
  return <textarea rows={lines} placeholder={attributes.placeholder ?? ''} {...events} />
}
