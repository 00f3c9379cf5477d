import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { call, type Trouble } from '../../api/call.js'
import { useQuery } from '../../api/query.js'
import type { Page } from '../../api/shapes.js'
import { mergeNewest } from './mergeNewest.js'

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

type State<Row> = { readonly rows: readonly Row[]; readonly waiting: readonly Row[] }

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
  const next = useSignal<string | undefined>(undefined)
  const isLoadingMore = useSignal(false)
  const shownKey = useMemo(() => ({ key }), [key])
  useEffect(() => {
    state.value = undefined
    next.value = undefined
  }, [shownKey])
  useEffect(() => {
    if (data === undefined) return
    const before = state.peek()
    if (before === undefined) next.value = data.next
    state.value =
      before === undefined
        ? { rows: data.items, waiting: [] }
        : mergeNewest(before, data.items, keyOf, isReading())
  }, [data, shownKey])
  const loadMore = async (): Promise<void> => {
    const before = next.value
    if (before === undefined || isLoadingMore.value) return
    isLoadingMore.value = true
    try {
      const page = await call<Page<Row>>('GET', path, {
        query: { ...query, limit: String(PAGE), before },
      })
      const present = state.value
      if (present !== undefined && next.value === before) {
        state.value = { ...present, rows: [...present.rows, ...page.items] }
        next.value = page.next
      }
    } finally {
      isLoadingMore.value = false
    }
  }
  const { rows, waiting = [] } = state.value ?? {}
  return {
    rows,
    trouble,
    waiting: waiting.length,
    hasMore: next.value !== undefined && (rows?.length ?? 0) < MOST,
    isLoadingMore: isLoadingMore.value,
    showWaiting: () => {
      if (state.value)
        state.value = { rows: [...state.value.waiting, ...state.value.rows], waiting: [] }
    },
    loadMore: () => void loadMore().catch(() => refresh()),
    refresh,
  }
}
