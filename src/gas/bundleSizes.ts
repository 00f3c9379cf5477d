/** Numbers of operations that share the fixed costs of a bundle, each at least 1. */
export type BundleSizes = {
  /** The one that estimates reckon with. */
  readonly current: number
  /** The fewest and the most that an estimate of the last minutes may have reckoned with. */
  readonly fewest: number
  readonly most: number
}

/** The sizes where the operator has set one. */
export function fixedSize(size: number): BundleSizes {
  return { current: size, fewest: size, most: size }
}
