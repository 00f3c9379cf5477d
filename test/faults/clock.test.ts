import { type Hex, parseEther } from 'viem'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { Tank } from '../../src/paymaster/tanks.js'
import { startTroubledNode } from '../support/chain/troubledNode.js'
import { silent } from '../support/logger.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { until } from '../support/until.js'
import { useWorld } from '../support/world.js'

const HOUR = 3_600_000
const jumps = [
  ['back', -6 * HOUR],
  ['ahead', 6 * HOUR],
] as const

const chain = useWorld()
let tank: Tank

beforeAll(async () => {
  tank = await chain().makeTank(chain().appId, parseEther('1'))
})
afterEach(() => void vi.useRealTimers())

/** Sets the clock of the service; the chain and the database keep theirs. */
function jump(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + milliseconds)
}

async function sponsored(): Promise<Operation> {
  const draft = { ...chain().operation(await chain().createAccount(0n)), ...unsetGas }
  const { decision, operation } = await chain().sponsor(chain().request(chain().appId, draft))
  expect(decision.code).toBe('SPONSORED')
  return operation
}

async function selfPaid(): Promise<Operation> {
  return chain().operation(await chain().createAccount())
}

async function spent(): Promise<{ readonly books: bigint; readonly chain: bigint }> {
  const rows = await chain()
    .database.selectFrom('reservations')
    .select('actual_cost')
    .where('chain_id', '=', BigInt(chain().chainId))
    .where('paymaster', '=', tank.address)
    .execute()
  const state = await chain().tanks.show(chain().appId, chain().entryPoint, 'gas')
  return {
    books: rows.reduce((sum, row) => sum + row.actual_cost, 0n),
    chain: parseEther('1') - (state?.deposit ?? 0n),
  }
}

test.each(jumps)(
  'a clock that jumps %s by hours: what is taken is included, or ends with a code; books are the chain',
  async (_, by) => {
    const early = [await chain().admit(await selfPaid()), await chain().admit(await sponsored())]
    jump(by)
    const during = [await chain().admit(await selfPaid()), await chain().admit(await sponsored())]
    await chain().settle()
    vi.useRealTimers()
    const late = [await chain().admit(await selfPaid()), await chain().admit(await sponsored())]
    await chain().settle()
    const stateOf = async (hash: Hex) => (await chain().stored(hash)).state
    expect(await Promise.all([...during, ...late].map(stateOf))).toEqual(
      Array.from({ length: 4 }, () => 'included'),
    )
    expect(await stateOf(early[0]!)).toBe('included')
    // By the later of our clock and the chain's, a sponsorship of before a jump ahead is over.
    expect(['included', 'dropped']).toContain(await stateOf(early[1]!))
    const { books, chain: paid } = await spent()
    expect(books).toBe(paid)
  },
)

test.each(jumps)(
  'a clock that jumps %s by hours leaves a node that failed paused as long as any other',
  async (_, by) => {
    const troubled = await startTroubledNode(chain().anvil.url)
    const client = createNodeClient({ urls: [troubled.url], logger: silent })
    try {
      await client.head()
      await troubled.begin({ kind: 'garbage' })
      await expect(client.head()).rejects.toThrow()
      const pausedUntil = () => client.nodes()[0]!.pausedUntil
      expect(pausedUntil()).toBeDefined()
      jump(by)
      expect(pausedUntil()!.getTime() - Date.now()).toBeLessThan(60_000)
      await troubled.end()
      await until(async () => pausedUntil() === undefined)
    } finally {
      await client.close()
      await troubled.stop()
    }
  },
)
