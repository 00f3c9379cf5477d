/** The smallest of one or more values. */
export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let least = first
  for (const value of others) if (value < least) least = value
  return least
}

/** The greatest of one or more values. */
export function greatest(first: bigint, ...others: readonly bigint[]): bigint {
  let most = first
  for (const value of others) if (value > most) most = value
  return most
}

/** The sum of any number of values. */
export function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

/** The order of two values for `sort`, the smaller one first. */
export function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Millionths of a USD as USD, with all six decimals. */
export function usdText(microUsd: bigint): string {
  const text = microUsd.toString().padStart(7, '0')
  return `${text.slice(0, -6)}.${text.slice(-6)}`
}

/** JSON with bigints as decimal text. */
export function decimalJson(value: unknown, indent?: number): string {
  const decimal = (_: string, item: unknown) => (typeof item === 'bigint' ? String(item) : item)
  return JSON.stringify(value, decimal, indent)
}

/** The value as JSON has it: bigints as decimal text, times as ISO text. */
export function plain(value: unknown): unknown {
  return JSON.parse(decimalJson(value))
}
