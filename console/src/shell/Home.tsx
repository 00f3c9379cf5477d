import { useEffect } from 'preact/hooks'
import { useQuery } from '../api/query.js'
import type { Operation, Page } from '../api/shapes.js'
import { Skeleton } from '../parts/Skeleton.js'
import { TroubleBanner } from '../parts/TroubleBanner.js'
import { go, hrefOf } from '../router.js'

/** The first screen: that of newcomers until there is an operation, then the operations. */
export function Home() {
  const { data, trouble, refresh } = useQuery<Page<Operation>>('/operations', { limit: '1' })
  useEffect(() => {
    if (data !== undefined) go(hrefOf(data.items.length === 0 ? 'start' : 'operations'), 'replace')
  }, [data])
  return trouble === undefined ? (
    <Skeleton lines={6} />
  ) : (
    <TroubleBanner trouble={trouble} onRetry={refresh} />
  )
}
