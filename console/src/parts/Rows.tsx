import { useSignal } from '@preact/signals'
import { go } from '../router.js'
import { type Column, Table } from './Table.js'
import { type RowsOf, useRowKeys } from './useRowKeys.js'

export type RowsProps<Row> = RowsOf<Row> & {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  /** Whether the row is about what has ended. */
  isOver?(row: Row): boolean
}

/** The rows of a screen, each of which opens something: by a click, or by the keys that walk through them. */
export function Rows<Row>({ label, columns, isOver, ...of }: RowsProps<Row>) {
  const cursor = useSignal<string | undefined>(undefined)
  const current = useRowKeys(of, cursor)
  return (
    <Table
      label={label}
      columns={columns}
      rows={of.rows}
      keyOf={of.keyOf}
      hrefOf={of.hrefOf}
      selected={current === undefined ? undefined : of.keyOf(current)}
      open={(row) => {
        cursor.value = of.keyOf(row)
        go(of.hrefOf(row))
      }}
      {...(isOver && { isOver })}
    />
  )
}
