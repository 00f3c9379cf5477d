import type { Hex } from 'viem'

/** The revert data in an error of viem's transport; throws the error again when it has none. */
export function revertDataOf(error: unknown): Hex {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('data' in cause && typeof cause.data === 'string') return cause.data as Hex
  }
  throw error
}
