import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { call, type Trouble } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import type { Page } from '../../api/shapes.js'
import { addOlder, firstRows, MOST, mergeNewest, type Rows, waitingRows } from './mergeNewest.js'

/** Rows of a page. */
const PAGE = 50

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
  const state = useSignal<Rows<Row> | undefined>(undefined)
  const isLoadingMore = useSignal(false)
  const shownKey = useMemo(() => ({ key }), [key])
  useEffect(() => {
    state.value = undefined
  }, [shownKey])
  useEffect(() => {
    if (data === undefined) return
    const before = state.peek()
    state.value =
      before === undefined ? firstRows(data) : mergeNewest(before, data, keyOf, isReading())
  }, [data, shownKey])
  const loadMore = async (): Promise<void> => {
    const before = state.value?.shown.next
    if (before === undefined || isLoadingMore.value) return
    isLoadingMore.value = true
    try {
      const page = await call<Page<Row>>('GET', path, {
        query: { ...query, limit: String(PAGE), before },
      })
      const present = state.value
      if (present?.shown.next === before) state.value = addOlder(present, page)
    } finally {
      isLoadingMore.value = false
    }
  }
  const { rows, next } = state.value?.shown ?? {}
  return {
    rows,
    trouble,
    waiting: state.value === undefined ? 0 : waitingRows(state.value, keyOf).length,
    hasMore: next !== undefined && (rows?.length ?? 0) <= MOST - PAGE,
    isLoadingMore: isLoadingMore.value,
    showWaiting: () => {
      if (state.value)
        state.value = { shown: state.value.latest, latest: state.value.latest, isCut: false }
    },
    loadMore: () => void loadMore().catch(() => refresh()),
    refresh,
  }
}
