import type { ComponentChildren } from 'preact'
import type { Query } from '../../api/query.js'
import type { Page } from '../../api/shapes.js'
import { Empty } from '../../parts/Empty.js'
import { ListActs } from '../../parts/ListActs.js'
import { Loaded } from '../../parts/Loaded.js'
import { type Column, Table } from '../../parts/Table.js'

type SectionProps<Row> = {
  readonly title: string
  readonly query: Query<Page<Row>>
  /** The path of the API that `query` asks. */
  readonly path: string
  /** The same by a command, where there is one. */
  readonly command?: string
  readonly columns: readonly Column<Row>[]
  keyOf(row: Row): string
  isOver?(row: Row): boolean
  /** What an empty list says. */
  readonly empty: string
  /** Buttons next to the title. */
  readonly children?: ComponentChildren
}

/** A list of a page with its title, whose rows open nothing. */
export function Section<Row>({
  title,
  query,
  path,
  command,
  columns,
  empty,
  children,
  ...of
}: SectionProps<Row>) {
  return (
    <section class="card flush" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        <ListActs path={path} title={title} command={command} />
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
