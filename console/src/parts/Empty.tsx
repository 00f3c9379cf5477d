import type { ComponentChildren } from 'preact'

/** What would stand here, and what to do so that it does. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
