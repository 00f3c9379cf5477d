import { useQuery } from '../../api/query.js'
import type { DecisionDetail } from '../../api/shapes.js'
import { hrefOf } from '../../router.js'

/** From a refused sponsorship to the policy that refused it, where it is tried again; nothing where none did. */
export function PolicyLink({ decisionId }: { readonly decisionId: string }) {
  const { data } = useQuery<DecisionDetail>(`/decisions/${decisionId}`)
  if (data === undefined || data.sponsored || data.policyId === null) return null
  return (
    <p>
      <a class="policy-link" href={hrefOf(`policies/${data.policyId}`, { decision: decisionId })}>
        Open the policy that refused, and try a change on this
      </a>
    </p>
  )
}

/** The id of the decision that an answer of a paymaster names in its data. */
export function decisionIdIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('decisionId' in data)) return undefined
  return typeof data.decisionId === 'string' ? data.decisionId : undefined
}
