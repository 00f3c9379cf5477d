/** The least of at least one value. */
export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first
  for (const value of others) if (value < found) found = value
  return found
}
