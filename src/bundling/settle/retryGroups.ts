/** By how many bundles failed with an operation: how many others may be in its next one. */
const retryGroupSizes = [Number.POSITIVE_INFINITY, 32, 4]

/**
 * The most operations in a bundle of operations of which `attempts` bundles failed on the chain. A
 * failed bundle is separated in few steps, not at once: of 250 operations with one culprit, 8 bundles
 * of 32, then 8 of 4, then 4 single ones carry the others. One that fails alone is the culprit.
 */
export function retryGroupSize(attempts: number): number {
  return retryGroupSizes[attempts] ?? 1
}

/** How many bundles may fail with an operation before it is dropped; it was alone in the last two. */
export const MAX_ATTEMPTS = retryGroupSizes.length + 2
