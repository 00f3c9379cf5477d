import type { ComponentChildren } from 'preact'

type GateProps = {
  readonly title: string
  readonly trouble: string | undefined
  readonly children: ComponentChildren
}

/** The frame of what people see before they are signed in. */
export function Gate({ title, trouble, children }: GateProps) {
  return (
    <main class="gate">
      <div class="card">
        <p class="brand">
          <span aria-hidden="true">P</span>
          Purser
        </p>
        <h1>{title}</h1>
        {trouble !== undefined && (
          <p class="trouble" role="alert">
            {trouble}
          </p>
        )}
        {children}
      </div>
    </main>
  )
}
