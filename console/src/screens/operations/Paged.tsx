import type { ComponentChildren } from 'preact'
import { Skeleton } from '../../parts/Skeleton.js'
import { TroubleBanner } from '../../parts/TroubleBanner.js'
import type { List } from './useList.js'

type PagedProps<Row> = {
  readonly list: List<Row>
  /** Lines of the skeleton while there are no rows. */
  readonly lines: number
  /** What stands there without any row. */
  readonly empty: ComponentChildren
  children(rows: readonly Row[]): ComponentChildren
}

/** A list that grows: new rows wait behind a button, older ones come by another. */
export function Paged<Row>({ list, lines, empty, children }: PagedProps<Row>) {
  const { rows } = list
  return (
    <>
      <TroubleBanner trouble={list.trouble} onRetry={list.refresh} />
      {list.waiting > 0 && (
        <button type="button" class="pill" onClick={list.showWaiting}>
          {list.waiting} new · show
        </button>
      )}
      {rows === undefined && list.trouble === undefined && <Skeleton lines={lines} />}
      {rows !== undefined && (rows.length === 0 ? empty : children(rows))}
      {list.hasMore && (
        <button type="button" class="more" disabled={list.isLoadingMore} onClick={list.loadMore}>
          {list.isLoadingMore ? 'Loading…' : 'Load 50 more'}
        </button>
      )}
    </>
  )
}
