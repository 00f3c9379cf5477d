import type { Database } from '../store/database.js'
import { type DailyUsage, listUsage, type Usage } from '../store/tenants/usage.js'

/** Days that a report has, today included. */
const DAYS = 30

/** The requests of a key: today's, and those of each of the last 30 days that had some, today first. */
export type KeyUsage = { readonly today: Usage; readonly items: readonly DailyUsage[] }

export async function usageOf(database: Database, keyId: string): Promise<KeyUsage> {
  const items = await listUsage(database, keyId, DAYS)
  const day = new Date().toISOString().slice(0, 10)
  const today = items.find((each) => each.day === day)
  return { today: { requests: today?.requests ?? 0, refused: today?.refused ?? 0 }, items }
}
