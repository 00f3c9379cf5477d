import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { call, type Trouble } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import type { Page } from '../../api/shapes.js'
import { mergeNewest, type Part, renewed } from './mergeNewest.js'

/** Rows of a page, and the most that the screen holds: beyond them filters help more than scrolling. */
const PAGE = 50
const MOST = 500

export type List<Row> = {
  readonly rows: readonly Row[] | undefined
  readonly trouble: Trouble | undefined
  /** New rows that wait, so that what is read does not move. */
  readonly waiting: number
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  showWaiting(): void
  loadMore(): void
  refresh(): void
}

/** What is shown, and what would be if nobody read. */
type State<Row> = { readonly shown: Part<Row>; readonly newest: Part<Row> }

/**
 * A list, the newest first: its first page is asked for again and again by `refresh`, older ones on request.
 * @param isReading - new rows wait until they are asked for
 */
export function useList<Row>(
  path: string,
  query: Readonly<Record<string, string>>,
  keyOf: (row: Row) => string,
  isReading: () => boolean,
): List<Row> {
  const { data, trouble, refresh } = useQuery<Page<Row>>(path, { ...query, limit: String(PAGE) })
  const key = JSON.stringify([path, query])
  const state = useSignal<State<Row> | undefined>(undefined)
  const isLoadingMore = useSignal(false)
  const shownKey = useMemo(() => ({ key }), [key])
  useEffect(() => {
    state.value = undefined
  }, [shownKey])
  useEffect(() => {
    if (data === undefined) return
    const before = state.peek() ?? only({ rows: [], next: undefined })
    const newest = mergeNewest(before.newest, data, keyOf, MOST)
    const rows = renewed(before.shown.rows, data.items, keyOf)
    state.value =
      isReading() && rows.length > 0 ? { shown: { ...before.shown, rows }, newest } : only(newest)
  }, [data, shownKey])
  const loadMore = async (): Promise<void> => {
    const before = state.value?.shown.next
    if (before === undefined || isLoadingMore.value) return
    isLoadingMore.value = true
    try {
      const page = await call<Page<Row>>('GET', path, {
        query: { ...query, limit: String(PAGE), before },
      })
      // What changed meanwhile may have another page below it.
      const extended = (part: Part<Row>): Part<Row> =>
        part.next === before ? { rows: [...part.rows, ...page.items], next: page.next } : part
      if (state.value !== undefined)
        state.value = { shown: extended(state.value.shown), newest: extended(state.value.newest) }
    } finally {
      isLoadingMore.value = false
    }
  }
  const { rows, next } = state.value?.shown ?? { rows: undefined, next: undefined }
  const shownKeys = new Set(rows?.map(keyOf))
  return {
    rows,
    trouble,
    waiting: state.value?.newest.rows.filter((row) => !shownKeys.has(keyOf(row))).length ?? 0,
    hasMore: next !== undefined && (rows?.length ?? 0) < MOST,
    isLoadingMore: isLoadingMore.value,
    showWaiting: () => {
      if (state.value) state.value = only(state.value.newest)
    },
    loadMore: () => void loadMore().catch(() => refresh()),
    refresh,
  }
}

function only<Row>(part: Part<Row>): State<Row> {
  return { shown: part, newest: part }
}
