import type { ComponentChildren } from 'preact'
import type { Query } from '../api/query.js'
import type { Page } from '../api/shapes.js'
import { Loaded } from './Loaded.js'
import { Rows, type RowsProps } from './Rows.js'

type LoadedRowsProps<Row> = Omit<RowsProps<Row>, 'rows'> & {
  readonly query: Query<Page<Row>>
  /** Lines of the skeleton while there is no answer. */
  readonly lines: number
  /** What stands there when there is nothing. */
  readonly empty: ComponentChildren
  /** Those of the answer that are shown, in their order; absent = all as they came. */
  shown?(rows: readonly Row[]): readonly Row[]
}

/** The rows of an answer. */
export function LoadedRows<Row>({ query, lines, empty, shown, ...of }: LoadedRowsProps<Row>) {
  return (
    <Loaded query={query} lines={lines}>
      {({ items }) =>
        items.length === 0 ? empty : <Rows {...of} rows={shown?.(items) ?? items} />
      }
    </Loaded>
  )
}
