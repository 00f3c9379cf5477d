import type { ComponentChildren } from 'preact'
import type { Query } from '../../api/query.js'
import type { Page } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import { Loaded } from '../../parts/Loaded.js'
import { type Column, Table } from '../../parts/Table.js'

type SectionProps<Row> = {
  readonly title: string
  readonly query: Query<Page<Row>>
  readonly columns: readonly Column<Row>[]
  keyOf(row: Row): string
  isOver?(row: Row): boolean
  /** What an empty list says. */
  readonly empty: string
  /** Buttons beside the title. */
  readonly children?: ComponentChildren
}

/** A list of a page with its title, whose rows open nothing. */
export function Section<Row>({ title, query, columns, empty, children, ...of }: SectionProps<Row>) {
  return (
    <section class="card flush" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {children}
      </div>
      <Loaded query={query} lines={3}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={empty} />
          ) : (
            <Table label={title} columns={columns} rows={items} {...of} />
          )
        }
      </Loaded>
    </section>
  )
}
