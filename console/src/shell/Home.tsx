import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountId, call, type Trouble } from '../api/call.js'
import type { Operation, Page } from '../api/shapes.js'
import { Skeleton } from '../parts/Skeleton.js'
import { TroubleBanner } from '../parts/TroubleBanner.js'
import { go, hrefOf } from '../router.js'

/** The first screen: that of newcomers until there is an operation, then the operations. */
export function Home() {
  const trouble = useSignal<Trouble | undefined>(undefined)
  const tries = useSignal(0)
  useEffect(() => {
    const abort = new AbortController()
    // Not by a query, which would keep the answer from before the first operation, and act on it.
    call<Page<Operation>>('GET', '/operations', { query: { limit: '1' }, signal: abort.signal })
      .then(({ items }) => go(hrefOf(items.length === 0 ? 'start' : 'operations'), 'replace'))
      .catch((error: Trouble) => {
        if (!abort.signal.aborted) trouble.value = error
      })
    return () => abort.abort()
  }, [accountId.value, tries.value])
  return trouble.value === undefined ? (
    <Skeleton lines={6} />
  ) : (
    <TroubleBanner
      trouble={trouble.value}
      onRetry={() => {
        tries.value += 1
      }}
    />
  )
}
