import { Icon } from './Icon.js'

type ChipProps = { readonly name: string; readonly value: string; onRemove(): void }

/** A filter that is set, to be taken away. */
export function FilterChip({ name, value, onRemove }: ChipProps) {
  return (
    <button type="button" class="chip" title="Take this filter away" onClick={onRemove}>
      {name}: <strong>{value}</strong>
      <Icon name="close" />
    </button>
  )
}

type FormProps = { readonly label: string; readonly placeholder: string; onAdd(text: string): void }

/** A field that adds a filter; what the text is for, its reader decides. */
export function FilterForm({ label, placeholder, onAdd }: FormProps) {
  return (
    <form
      class="filter-form"
      onSubmit={(event) => {
        event.preventDefault()
        const field = event.currentTarget.elements.namedItem('filter') as HTMLInputElement
        const text = field.value.trim()
        if (text === '') return
        onAdd(text)
        field.value = ''
      }}
    >
      <input
        name="filter"
        autocomplete="off"
        spellcheck={false}
        aria-label={label}
        placeholder={placeholder}
      />
    </form>
  )
}
