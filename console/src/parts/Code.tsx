import type { ComponentChildren } from 'preact'
import { CopyButton } from './Hex.js'

/** A sentence whose parts in backticks are code. */
export function withCode(text: string): ComponentChildren {
  return text.split('`').map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : part))
}

/** A block of code to copy. */
export function Code({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div class="code">
      <CopyButton text={text} what={what} />
      <section aria-label={what}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre tabIndex={0}>
          <code>{text}</code>
        </pre>
      </section>
    </div>
  )
}
