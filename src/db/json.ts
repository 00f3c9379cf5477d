/**
 * Text for a jsonb column. A bigint is written as a string with the suffix `n`, because a JSON
 * number would lose its low digits. Members that are undefined are left out.
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `${item}n` : item))
}

/** What `toJson` wrote, as the driver parsed it, with its bigints back. Its keys are ours, never a sender's. */
export function fromJson(value: unknown): unknown {
  if (typeof value === 'string') return bigintText.test(value) ? BigInt(value.slice(0, -1)) : value
  if (Array.isArray(value)) return value.map(fromJson)
  if (value === null || typeof value !== 'object') return value
  const members = value as Readonly<Record<string, unknown>>
  const read: Record<string, unknown> = {}
  // A quarter of the time that a list of entries takes.
  for (const key in members) read[key] = fromJson(members[key])
  return read
}

const bigintText = /^-?\d+n$/
