import { sql } from 'kysely'
import { type Hex, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { commitAdmissions } from '../../src/mempool/commitAdmissions.js'
import { pooledOperations } from '../../src/mempool/pool/pooledOperations.js'
import type { Admission } from '../../src/mempool/poolView.js'
import { createApp } from '../support/database/createApp.js'
import { plainOperation } from '../support/operations/plainOperation.js'
import { useWorld } from '../support/world.js'

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
const world = useWorld({ versions, definition: { rules: 'full' } })

/** The candidates for the next bundle of an EntryPoint. */
function candidates(version: Version) {
  const { entryPoint } = world().at(version)
  return pooledOperations(world().database, {
    chainId: world().definition.chainId,
    entryPoint: entryPoint.address,
    baseFee: 0n,
    leastTip: 0n,
    without: new Set(),
    inFlight: [],
    limit: 10,
  })
}

/** Admits the first operation of an account, which creates it. */
async function admit(version: Version, seed: string): Promise<Hex> {
  const { account, accountDraft, entryPoint, fund, sign } = world().at(version)
  await fund((await account(seed)).address)
  return world().admit(await sign(await accountDraft(seed), seed), entryPoint)
}

test.each(versions)(
  'a candidate of v%s is as it is stored, and is the very operation that was validated',
  async (version) => {
    const hash = await admit(version, `known ${version}`)
    const [candidate, ...others] = await candidates(version)
    expect(others).toEqual([])
    expect(candidate).toEqual(await world().stored(hash))
    const { entryPoint } = world().at(version)
    const recalled = await world().context.engine.recall(entryPoint, [candidate!.operation])
    expect(recalled.size).toBe(1)
  },
)

test('an operation that another process brought back is read anew, and so are failed bundles', async () => {
  const hash = await admit('0.7', 'brought back')
  const own = (await candidates('0.7')).find((each) => each.hash === hash)
  await sql`update operations set attempts = 3, received_at = received_at + interval '1 s',
    operation = jsonb_set(operation, '{signature}', '"0x1234"') where hash = ${hash}`.execute(
    world().database,
  )
  const again = (await candidates('0.7')).find((each) => each.hash === hash)
  expect(again).toEqual(await world().stored(hash))
  expect(again?.operation.signature).toBe('0x1234')
  await sql`update operations set attempts = 4 where hash = ${hash}`.execute(world().database)
  const failed = (await candidates('0.7')).find((each) => each.hash === hash)
  expect([own?.attempts, again?.attempts, failed?.attempts]).toEqual([0, 3, 4])
  expect(failed?.operation).toBe(again?.operation)
})

/** Pools operations of so many senders, of which the first pays most, on a chain that is not there. */
async function fill(chainId: number, count: number, callDataBytes: number) {
  const { database } = world()
  const appId = await createApp(database)
  const entryPoint = numberToHex(chainId, { size: 20 })
  const operations = Array.from({ length: count }, (_, index) =>
    plainOperation({
      sender: numberToHex(index + 1, { size: 20 }),
      callData: `0x${'ab'.repeat(callDataBytes)}`,
      maxFeePerGas: 1_000_000n,
      maxPriorityFeePerGas: BigInt(count - index),
    }),
  )
  const admissions = operations.map((operation, index): Admission => {
    const entry = {
      ...{ chainId, entryPoint, appId, operation, keyId: undefined, factory: undefined },
      ...{ prefund: 1n, assuredPrice: operation.maxFeePerGas, validUntil: 0, validUntilBlock: 0n },
      ...{ seenBlock: 0n, mostCharged: undefined, sharedBy: 1, firstValidation: undefined },
      hash: numberToHex(chainId * 100_000 + index, { size: 32 }),
    }
    return { entry, deposit: undefined, baseFee: 1n, entities: undefined }
  })
  const limits = { maxOperationsPerSender: 1, maxOperationsPerApp: 10_000, maxOperations: 10_000 }
  while (admissions.length > 0) {
    const decisions = await commitAdmissions(database, chainId, admissions.splice(0, 50), limits)
    expect(new Set(decisions.map(({ kind }) => kind))).toEqual(new Set(['insert']))
  }
  const best = await pooledOperations(database, {
    ...{ chainId, entryPoint, baseFee: 0n, leastTip: 0n, without: new Set<Hex>(), inFlight: [] },
    limit: 500,
  })
  return { operations, best: best.map(({ operation }) => operation) }
}

test('the best of 4,000 operations that wait are the very ones that were admitted', async () => {
  const { operations, best } = await fill(7_001, 4_000, 200)
  expect(best).toHaveLength(500)
  expect(best.filter((operation, index) => operation !== operations[index])).toEqual([])
})

test('of large operations more are candidates than are remembered', async () => {
  const { operations, best } = await fill(7_002, 100, 400_000)
  expect(best).toEqual(operations)
  expect(best.filter((operation, index) => operation !== operations[index]).length).toBeGreaterThan(
    10,
  )
})
