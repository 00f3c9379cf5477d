import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** A column: what its cells hold, and how wide it is on a narrow screen. */
export type Column<Row> = {
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  /** From which width on; absent = always: on narrow screens a row is a card of the cells that are always there. */
  readonly shown?: 'wide' | 'widest'
  readonly isNumber?: true
}

type TableProps<Row> = {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string
  /** Where a row leads; absent = nowhere. */
  hrefOf?(row: Row): string
  open?(row: Row): void
  /** The key of the row that is open or that the keyboard is on. */
  readonly selected?: string | undefined
  /** Whether the row is about what has ended. */
  isOver?(row: Row): boolean
  /** Whether the row is the sum of the others. */
  isTotal?(row: Row): boolean
}

/** Rows, which may each open something: by a click, by the link in their first cell, by the keys of the screen. */
export function Table<Row>({ label, columns, rows, selected, ...of }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    body.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, shown, isNumber }) => (
            <th key={name} scope="col" class={classOf(shown, isNumber)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row) => {
          const key = of.keyOf(row)
          return (
            <tr
              key={key}
              class={rowClass(of.open !== undefined, of.isOver?.(row), of.isTotal?.(row))}
              aria-current={key === selected ? 'true' : undefined}
              onClick={(event) => {
                if ((event.target as Element).closest('a, button') === null) of.open?.(row)
              }}
            >
              {columns.map(({ name, shown, isNumber, cell }, index) => (
                <td key={name} class={classOf(shown, isNumber)} data-name={name}>
                  {index === 0 && of.hrefOf ? <a href={of.hrefOf(row)}>{cell(row)}</a> : cell(row)}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function rowClass(opens: boolean, isOver = false, isTotal = false): string {
  return `${opens ? 'opens' : ''}${isOver ? ' is-over' : ''}${isTotal ? ' is-total' : ''}`
}

function classOf(shown = 'always', isNumber = false): string {
  return `shown-${shown}${isNumber ? ' number' : ''}`
}
