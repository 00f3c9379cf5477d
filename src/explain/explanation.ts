/** Whoever can mend it: the person with the account, the app's developer, the operator, or the chain. */
export type Mender = 'user' | 'app' | 'operator' | 'chain'

/** What can be done about a code. */
export type Remedy = {
  readonly culprit: Mender
  /** What to do, the likeliest first. */
  readonly steps: readonly string[]
}

/** What a code means, who can mend it, and how. */
export type Explanation = Remedy & {
  readonly code: string
  readonly meaning: string
  /** The page of the documents that has more. */
  readonly docs: string
}
