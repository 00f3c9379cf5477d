import { sql } from 'kysely'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { pooledOperations } from '../../src/mempool/pool/pooledOperations.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
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
