import fc from 'fast-check'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { listOperations } from '../../src/records/operations.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { entryPoint } from '../support/operations/inclusionOf.js'

const database = useDatabase()

const states = ['pooled', 'bundled', 'included', 'dropped', 'replaced'] as const
const live: readonly string[] = ['pooled', 'bundled']
const senders = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
const COUNT = 60

/** The second of 2026-01-01 at which number n was received: three come together. */
function receivedAt(n: number): Date {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(n / 3)))
}

/** Every state, app and sender in turn. */
const operations = Array.from({ length: COUNT }, (_, n) => {
  const state = states[n % states.length]!
  const code = state === 'dropped' ? (['EXPIRED', 'CANCELLED'] as const)[n % 2]! : null
  const hash: Hex = `0x${n.toString(16).padStart(64, '0')}`
  return {
    n,
    hash,
    state,
    code,
    app: n % 2,
    sender: senders[n % 3 === 0 ? 0 : 1],
    chainId: 1 + (n % 4),
  }
})

const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
const filters = fc.record({
  app: fc.constantFrom(0, 1),
  state: optional(fc.constantFrom(...states)),
  outcome: optional(fc.constantFrom('inFlight', 'dropped')),
  code: optional(fc.constantFrom('EXPIRED', 'CANCELLED')),
  sender: optional(fc.constantFrom(...senders)),
  chainId: optional(fc.integer({ min: 1, max: 4 })),
  from: optional(fc.integer({ min: 0, max: COUNT })),
  until: optional(fc.integer({ min: 0, max: COUNT })),
})

test('pages of any filter give what fulfils it, the newest first, each operation once', async () => {
  const db = database().database
  const apps = [await createApp(db), await createApp(db)] as const
  const rows = operations.map(({ n, hash, state, code, app, sender, chainId }) => ({
    ...{ chain_id: BigInt(chainId), hash, entry_point: entryPoint, app_id: apps[app]!, sender },
    ...{ nonce: BigInt(n), paymaster: null, prefund: 5n, assured_price: 1n, valid_until: 0n },
    ...{ max_fee_per_gas: 1n, max_priority_fee_per_gas: 1n, operation: '{}', state },
    ...{ reason_code: code, received_at: receivedAt(n) },
  }))
  await db.insertInto('operations').values(rows).execute()

  const check = async ({
    app,
    from,
    until,
    ...filter
  }: typeof filters extends fc.Arbitrary<infer T> ? T : never) => {
    const times = {
      from: from === undefined ? undefined : receivedAt(from),
      until: until === undefined ? undefined : receivedAt(until),
    }
    const wanted = operations
      .filter(
        (each) =>
          each.app === app &&
          (filter.state ?? each.state) === each.state &&
          (filter.outcome !== 'inFlight' || live.includes(each.state)) &&
          (filter.outcome !== 'dropped' || ['dropped', 'replaced'].includes(each.state)) &&
          (filter.code ?? each.code) === each.code &&
          (filter.sender ?? each.sender) === each.sender &&
          (filter.chainId ?? each.chainId) === each.chainId &&
          (times.from === undefined || receivedAt(each.n) >= times.from) &&
          (times.until === undefined || receivedAt(each.n) < times.until),
      )
      .sort((a, b) => b.n - a.n)
    const found: Hex[] = []
    let before: string | undefined
    do {
      const page = await listOperations(
        db,
        { appId: apps[app], ...filter, ...times },
        { limit: 4, before },
      )
      found.push(...page.items.map(({ hash }) => hash))
      before = page.next
    } while (before !== undefined)
    expect(found).toEqual(wanted.map(({ hash }) => hash))
  }
  await fc.assert(fc.asyncProperty(filters, check), { numRuns: 200 })
})
