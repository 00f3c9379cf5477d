import { useMemo } from 'preact/hooks'
import { useQuery } from '../../api/query.js'
import type { OverviewAnswer } from '../../api/shapes.js'
import { grouped } from '../../parts/format.js'
import { beginOf, type View } from './views.js'

/** Filters that the overview does not know: with them there are no counts. */
const unknown = ['sender', 'code', 'rule', 'method']

/** How many operations each tab has within the chosen time, where that can be said. */
export function useCounts(
  range: string | null,
  search: URLSearchParams,
): Readonly<Partial<Record<View['view'], string>>> {
  const from = useMemo(() => beginOf(range, Date.now()), [range])
  const isKnown = from !== undefined && !unknown.some((name) => search.has(name))
  const { data } = useQuery<OverviewAnswer>(isKnown ? '/overview' : undefined, {
    from,
    appId: search.get('appId') ?? undefined,
    chainId: search.get('chainId') ?? undefined,
  })
  if (data === undefined || !isKnown) return {}
  const { received, included, reverted, dropped, replaced, ...totals } = data.totals
  return {
    '': grouped(received),
    'in-flight': grouped(totals.inFlight),
    included: grouped(BigInt(included) - BigInt(reverted)),
    failed: grouped(reverted),
    dropped: grouped(BigInt(dropped) + BigInt(replaced)),
    refused: grouped(totals.refused),
    'not-sponsored': grouped(totals.notSponsored),
  }
}
