/** What a draft is tried on. */
export type Against =
  | { readonly last: number }
  | { readonly decisionId: string }
  | { readonly refusalId: string }

/** The decision or refusal from which an address came; undefined = from none. */
export function againstOf(search: URLSearchParams): Exclude<Against, { last: number }> | undefined {
  const decisionId = search.get('decision')
  const refusalId = search.get('refusal')
  if (decisionId) return { decisionId }
  return refusalId ? { refusalId } : undefined
}
