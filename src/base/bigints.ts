/** The smallest of one or more values. */
export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((least, value) => (value < least ? value : least), first)
}

/** The greatest of one or more values. */
export function greatest(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((most, value) => (value > most ? value : most), first)
}

/** The sum of any number of values. */
export function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

/** The order of two values for `sort`, the smaller one first. */
export function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
