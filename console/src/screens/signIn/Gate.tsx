import type { ComponentChildren } from 'preact'
import { Mistake } from '../../parts/Mistake.js'

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
        <Mistake text={trouble} />
        {children}
      </div>
    </main>
  )
}
