import type { ComponentChildren } from 'preact'
import type { Query } from '../api/query.js'
import { Empty } from './Empty.js'
import { Loaded } from './Loaded.js'

type SplitProps = {
  /** The list of the screen with its head. */
  readonly children: ComponentChildren
  /** What is open beside the list; undefined = nothing is. */
  readonly beside: ComponentChildren
}

/** A list, and beside it what of it is open; on narrow screens what is open alone. */
export function Split({ children, beside }: SplitProps) {
  return (
    <div class={beside === undefined ? 'split' : 'split is-open'}>
      <section class="side-list">{children}</section>
      {beside !== undefined && (
        <aside class="panel" aria-label="What is open">
          {beside}
        </aside>
      )}
    </div>
  )
}

type AbsentProps = {
  readonly query: Query<unknown>
  readonly what: string
  readonly all: string
  readonly href: string
}

/** In place of an open thing that the list does not have, or not yet. */
export function Absent({ query, what, all, href }: AbsentProps) {
  return (
    <div class="panel-body">
      <Loaded query={query} lines={6}>
        {() => (
          <Empty title={`There is no such ${what}`}>
            <p>
              <a href={href}>{all}</a>
            </p>
          </Empty>
        )}
      </Loaded>
    </div>
  )
}
