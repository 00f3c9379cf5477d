import fc from 'fast-check'
import { type Hex, pad, toHex } from 'viem'
import { expect, test } from 'vitest'
import { settleLedger, undoLedger } from '../../../src/paymaster/ledger/ledger.js'
import { lockedAt, type Moment } from '../../../src/paymaster/ledger/payers.js'
import type { Payer, ReservationSlot } from '../../../src/paymaster/ledger/reservations.js'
import { reserveTogether } from '../../../src/paymaster/policy/reserve.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { everyExpired } from '../../support/database/everyExpired.js'
import { sumLocked, toReservation } from '../../support/database/ledger.js'
import { alice, bob, entryPoint, inclusionOf, tank } from '../../support/operations/inclusionOf.js'
import { randomRuns } from '../../support/runs.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

const finality = 4
const genesis = 1_000_000

const place = fc.record({
  sender: fc.constantFrom(alice, bob),
  nonce: fc.bigInt({ min: 0n, max: 5n }),
})
const payerOf = fc.constantFrom(tank, bob)

/** A step of a history; `lag` = the number of blocks that the asking process is behind the newest. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      paymaster: payerOf,
      lag: fc.nat(3),
      deposit: fc.bigInt({ min: 0n, max: 1_500n }),
      asked: fc.array(
        fc.tuple(
          place,
          fc.record({
            cost: fc.bigInt({ min: 1n, max: 400n }),
            seconds: fc.integer({ min: 1, max: 30 }),
          }),
        ),
        { minLength: 1, maxLength: 5 },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('grow' as const),
      seconds: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 3 }),
      included: fc.array(place, { maxLength: 3 }),
      isIndexed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: finality }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never
type Block = Moment & { readonly included: readonly { sender: Hex; nonce: bigint }[] }

/** A chain, an index that follows it or lags, and the ledger of its sponsorships. */
function createWorld(chainId: number, appId: string) {
  const blocks: Block[] = [{ blockNumber: 1n, timestamp: genesis, included: [] }]
  let indexed = 1n
  const head = () => blocks.at(-1)!
  const transact = database().transaction()

  const index = () =>
    transact.execute(async (trx) => {
      const fresh = blocks.filter(({ blockNumber }) => blockNumber > indexed)
      const { blockNumber: number, timestamp } = head()
      indexed = number
      const included = fresh.flatMap(({ blockNumber: block, included }) =>
        included.map(({ sender, nonce }) => {
          const hash = pad(toHex(nonce), { size: 32 })
          return inclusionOf({ slot: { entryPoint, sender, nonce }, hash, cost: 1n, block })
        }),
      )
      const final = number - BigInt(finality)
      const looked = await everyExpired(trx, chainId, final)
      await settleLedger(trx, chainId, included, { number, timestamp, final, looked })
    })

  const reserve = async ({
    paymaster,
    lag,
    deposit,
    asked,
  }: Extract<Step, { kind: 'reserve' }>) => {
    const { blockNumber, timestamp } = blocks.at(-1 - lag) ?? blocks[0]!
    const results = await reserveTogether(
      database(),
      asked.map(([{ sender, nonce }, { cost, seconds }]) => {
        const slot: ReservationSlot = { chainId, entryPoint, paymaster, appId, sender, nonce }
        const head = { deposit, blockNumber, timestamp }
        return toReservation({
          slot,
          head,
          maxCost: cost,
          validUntil: BigInt(timestamp + seconds),
        })
      }),
    )
    const granted = results.some(({ kind }) => kind === 'granted')
    return { paymaster, deposit, granted, head: { blockNumber, timestamp } }
  }

  const undo = async (fork: bigint) => {
    if (indexed <= fork) return
    await transact.execute((trx) => undoLedger(trx, chainId, fork))
    indexed = fork
  }

  const apply = async (each: Exclude<Step, { kind: 'reserve' }>): Promise<void> => {
    if (each.kind === 'grow') {
      for (const [at, seconds] of each.seconds.entries()) {
        const { blockNumber, timestamp } = head()
        const included = at === 0 ? each.included : []
        const next = { blockNumber: blockNumber + 1n, timestamp: timestamp + seconds }
        blocks.push({ ...next, included })
      }
      if (each.isIndexed) await index()
    } else if (each.kind === 'reorg') {
      blocks.splice(Math.max(1, blocks.length - each.depth))
      await undo(head().blockNumber)
    } else {
      await undo(-1n)
      blocks.splice(0, blocks.length, { blockNumber: 0n, timestamp: genesis - 20, included: [] })
      indexed = 0n
    }
  }

  return { apply, reserve, moments: (): readonly Moment[] => blocks.slice(-5) }
}

let chainId = 3_000_000

async function expectExact(payer: Payer, moments: readonly Moment[]): Promise<void> {
  const kept = await database()
    .selectFrom('payers')
    .selectAll()
    .where('chain_id', '=', BigInt(payer.chainId))
    .where('paymaster', '=', payer.paymaster)
    .executeTakeFirst()
  if (kept) {
    const { block_number: blockNumber, timestamp } = kept
    const at = { blockNumber, timestamp: Number(timestamp) }
    expect(kept.locked).toBe(await sumLocked(database(), payer, at))
  }
  const reported = await lockedAt(database(), payer, moments)
  for (const [place, moment] of moments.entries())
    expect(reported[place]).toBe(await sumLocked(database(), payer, moment))
}

test('what is kept is the sum of the reservations that lock, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
      const world = createWorld(++chainId, await createApp(database()))
      const payers = [tank, bob].map((paymaster) => ({ chainId, entryPoint, paymaster }))
      for (let at = 0; at < steps.length; at++) {
        const each = steps[at]!
        if (each.kind === 'reserve') {
          const { granted, head, deposit, paymaster } = await world.reserve(each)
          const locked = await sumLocked(database(), { chainId, entryPoint, paymaster }, head)
          if (granted) expect(locked).toBeLessThanOrEqual(deposit)
        } else await world.apply(each)
        for (const payer of payers) await expectExact(payer, world.moments())
      }
    }),
    { numRuns: randomRuns(60) },
  )
})

test('nor does it drift when sponsorships, blocks and reorgs come at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const world = createWorld(++chainId, await createApp(database()))
      // The chain goes its way one step after the other, sponsorships at any time.
      let chain = Promise.resolve()
      const asked: Promise<unknown>[] = []
      for (const each of steps) {
        if (each.kind === 'reserve') asked.push(world.reserve(each))
        else chain = chain.then(() => world.apply(each))
      }
      await Promise.all([chain, ...asked])
      for (const paymaster of [tank, bob])
        await expectExact({ chainId, entryPoint, paymaster }, world.moments())
    }),
    { numRuns: randomRuns(30) },
  )
})
