import type { ComponentChildren } from 'preact'

/** A list of names and values: each of its children is a `Fact`. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>
}

type FactProps = { readonly name: string; readonly children: ComponentChildren }

/** One name and its value. */
export function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
