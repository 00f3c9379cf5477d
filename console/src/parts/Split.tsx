import type { ComponentChildren } from 'preact'
import type { Query } from '../api/query.js'
import { Empty } from './Empty.js'
import { Loaded } from './Loaded.js'

type SplitProps = {
  /** The list of the screen with its head. */
  readonly children: ComponentChildren
  /** The open panel; undefined = none. */
  readonly panel: ComponentChildren
}

/** A list with its open panel to the right; on narrow screens only the panel. */
export function Split({ children, panel }: SplitProps) {
  return (
    <div class={panel === undefined ? 'split' : 'split is-open'}>
      <section class="side-list">{children}</section>
      {panel !== undefined && (
        <aside class="panel" aria-label="What is open">
          {panel}
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
