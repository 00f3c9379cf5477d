import { explorerUrl } from '../api/names.js'
import { copy } from './copy.js'
import { shortOf } from './format.js'
import { Icon } from './Icon.js'

type HexProps = {
  readonly value: string
  readonly what: string
  /** The name of it that people know. */
  readonly name?: string | undefined
  /** The chain whose explorer has a page of it; absent = none has. */
  readonly chainId?: number
  /** What it is there. */
  readonly kind?: 'address' | 'tx'
}

/** An address or a hash in short, whole in its title, with a button that copies it. */
export function Hex({ value, what, name, chainId, kind = 'address' }: HexProps) {
  const href = chainId === undefined ? undefined : explorerUrl(chainId, kind, value)
  const shown = name === undefined ? <code title={value}>{shortOf(value)}</code> : name
  return (
    <span class="hex" title={value}>
      {href === undefined ? (
        shown
      ) : (
        <a href={href} target="_blank" rel="noreferrer" title={`${value} in the explorer`}>
          {shown}
        </a>
      )}
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
