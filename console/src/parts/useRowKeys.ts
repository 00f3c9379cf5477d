import type { Signal } from '@preact/signals'
import { useKeys } from '../keys.js'
import { go } from '../router.js'

export type RowsOf<Row> = {
  readonly rows: readonly Row[]
  keyOf(row: Row): string
  /** Where a row leads. */
  hrefOf(row: Row): string
  /** The key of the open row; undefined = none is. */
  readonly openKey?: string | undefined
}

/**
 * Lets `j k Enter Esc` walk through the rows of a screen, of which it has one list.
 * @param cursor - the key of the row that the keyboard is on
 * @returns the row that is open or that the keyboard is on
 */
export function useRowKeys<Row>(
  { rows, keyOf, hrefOf, openKey }: RowsOf<Row>,
  cursor: Signal<string | undefined>,
): Row | undefined {
  const selected = openKey ?? cursor.value
  const at = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected)
  const move = (step: number): void => {
    const row = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
    if (row === undefined) return
    cursor.value = keyOf(row)
    if (openKey !== undefined) go(hrefOf(row), 'replace')
  }
  const current = rows[at]
  useKeys('This list', {
    j: ['next row, also while one is open', () => move(1)],
    ArrowDown: ['next row, also while one is open', () => move(1)],
    k: ['row before', () => move(-1)],
    ArrowUp: ['row before', () => move(-1)],
    ...(openKey === undefined && {
      Enter: [
        'open the row',
        () => {
          if (current !== undefined) go(hrefOf(current))
        },
      ],
    }),
    // Without a row to leave the key is what lies below's.
    ...(openKey === undefined &&
      cursor.value !== undefined && {
        Escape: [
          'leave the row',
          () => {
            cursor.value = undefined
          },
        ],
      }),
  })
  return current
}
