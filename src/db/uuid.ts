/** A UUID in lower or upper case. */
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Can `text` be an id of ours? PostgreSQL refuses to compare anything else with one. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}
