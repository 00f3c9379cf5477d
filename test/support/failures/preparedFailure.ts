import type { FailureWorld } from './failureWorld.js'
import type { HostileParts } from './hostileParts.js'

export type FailurePlace = {
  /** Below `/admin/v1`: one GET of it explains the failure. */
  readonly path: string
  /** The command that prints the same; undefined where the failure is recorded nowhere. */
  readonly command: readonly string[] | undefined
}

/** A failure that is brought about on the world, and what must be said of it. */
export type PreparedFailure = {
  readonly name: string
  prepare(world: FailureWorld, parts: HostileParts): Promise<FailurePlace>
  /** The code that explains it. */
  readonly code: string
  /** Facts with numbers, in the texts of the answer. */
  readonly says: readonly RegExp[]
  /** The step that fixes it. */
  readonly step: RegExp
}
