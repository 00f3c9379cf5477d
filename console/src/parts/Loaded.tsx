import type { ComponentChildren } from 'preact'
import type { Query } from '../api/query.js'
import { Skeleton } from './Skeleton.js'
import { TroubleBanner } from './TroubleBanner.js'

type LoadedProps<Answer> = {
  readonly query: Query<Answer>
  /** Lines of the skeleton while there is no answer. */
  readonly lines: number
  children(answer: Answer): ComponentChildren
}

/** An answer once it is there; before it a skeleton, above it what went wrong with the last request. */
export function Loaded<Answer>({ query, lines, children }: LoadedProps<Answer>) {
  const { data, trouble, refresh } = query
  return (
    <>
      <TroubleBanner trouble={trouble} onRetry={refresh} />
      {data !== undefined && children(data)}
      {data === undefined && trouble === undefined && <Skeleton lines={lines} />}
    </>
  )
}
