import { copy } from './copy.js'
import { shortOf } from './format.js'
import { Icon } from './Icon.js'

/** An address or a hash in short, whole in its title, with a button that copies it. */
export function Hex({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <span class="hex">
      <code title={value}>{shortOf(value)}</code>
      <CopyButton text={value} what={what} />
    </span>
  )
}

/** A button that copies text. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <button
      type="button"
      class="copy"
      title={`Copy ${what}`}
      aria-label={`Copy ${what}`}
      onClick={(event) => {
        event.stopPropagation()
        void copy(text, what)
      }}
    >
      <Icon name="copy" />
    </button>
  )
}
