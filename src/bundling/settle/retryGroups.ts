/** Sizes of an operation's next bundle, by the number of its bundles that have failed. */
const retryGroupSizes = [Number.POSITIVE_INFINITY, 32, 4]

/**
 * The most operations in a bundle whose operations have had `attempts` bundles fail on the chain. A
 * failed bundle is separated in few steps, not at once: of 250 operations one of which fails, 8 bundles
 * of 32, then 8 of 4, then 4 single ones carry the others. The one that fails alone is the cause.
 */
export function retryGroupSize(attempts: number): number {
  return retryGroupSizes[attempts] ?? 1
}

/** The number of failed bundles with which an operation is dropped; it was alone in the last two. */
export const MAX_ATTEMPTS = retryGroupSizes.length + 2
