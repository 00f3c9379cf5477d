/** The greatest of at least one value. */
export function greatest(first: bigint, ...others: readonly bigint[]): bigint {
  let found = first
  for (const value of others) if (value > found) found = value
  return found
}
