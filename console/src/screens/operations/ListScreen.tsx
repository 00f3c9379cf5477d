import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useChanges } from '../../api/changes.js'
import { useKeys } from '../../keys.js'
import { copy } from '../../parts/copy.js'
import { type Column, Table } from '../../parts/Table.js'
import { useRowKeys } from '../../parts/useRowKeys.js'
import { go, hrefOf, place, searchWith } from '../../router.js'
import { EmptyList } from './EmptyList.js'
import { Paged } from './Paged.js'
import { useList } from './useList.js'
import { queryOf, type View } from './views.js'

type ListProps<Row> = {
  readonly view: View
  readonly columns: readonly Column<Row>[]
  /** The path of a row, which is its key too: `operations/31337/0x…`. */
  pathOf(row: Row): string
  /** What `c` copies. */
  nameOf(row: Row): string
  /** The path of the row that is open. */
  readonly openPath: string | undefined
  readonly isLive: boolean
  /** The apps whose stream reports changes of the list; empty = none does. */
  readonly streamed: readonly string[]
  /** The time from which on the list goes, ISO 8601; undefined = from the beginning. */
  readonly from: string | undefined
  onToggleLive(): void
}

/** One list of the screen, with the keys that walk through it. */
export function ListScreen<Row>({ view, columns, openPath, isLive, ...props }: ListProps<Row>) {
  const { pathOf } = props
  const { search } = place.value
  const query = queryOf(view, search, props.from)
  const cursor = useSignal<string | undefined>(undefined)
  const top = useRef<HTMLDivElement>(null)
  const isReading = () =>
    openPath !== undefined ||
    cursor.value !== undefined ||
    (top.current?.getBoundingClientRect().top ?? 0) < 0
  const list = useList<Row>(`/${view.list}`, query, pathOf, isReading)
  useChanges(list.refresh, isLive, props.streamed)

  const rowsOf = {
    rows: list.rows ?? [],
    keyOf: pathOf,
    hrefOf: (row: Row) => hrefOf(pathOf(row), searchWith({})),
    openKey: openPath,
  }
  const current = useRowKeys(rowsOf, cursor)
  useKeys('This list', {
    c: [
      'copy the hash of the row',
      () => {
        if (current !== undefined) void copy(props.nameOf(current), props.nameOf(current))
      },
    ],
    y: ['copy the link to what is shown', () => void copy(location.href, 'the link')],
    '.': ['live on and off', props.onToggleLive],
  })
  return (
    <div class="list" ref={top}>
      <Paged list={list} lines={8} empty={<EmptyList view={view} isFiltered={search.size > 0} />}>
        {(rows) => (
          <Table
            label={view.name}
            columns={columns}
            rows={rows}
            selected={current === undefined ? undefined : pathOf(current)}
            keyOf={pathOf}
            hrefOf={rowsOf.hrefOf}
            open={(row) => {
              cursor.value = pathOf(row)
              go(rowsOf.hrefOf(row))
            }}
          />
        )}
      </Paged>
    </div>
  )
}
