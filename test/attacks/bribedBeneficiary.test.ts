import { parseEther, parseGwei, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import type { NodeClient } from '../../src/chain/nodeClient.js'
import type { Draft } from '../../src/entrypoint/draft.js'
import type { Fees } from '../../src/entrypoint/fees.js'
import { type EngineChain, openEngineChain } from '../support/chain/engineChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { type SponsorWorld, sponsorWorld } from '../support/service/sponsorWorld.js'
import { carryAsStranger } from '../support/tanks/carryAsStranger.js'
import { TARGET } from '../support/tanks/tankChain.js'

/*
 * The attacker has an operation sponsored with a tip far above the chain's, and carries it to the chain
 * himself: the tank pays the tip to him.
 */

const testDatabase = useDatabase()

/** The node as one of a rollup, which suggests what is paid there; anvil suggests a gwei at least. */
function suggesting(node: NodeClient, tip: bigint): NodeClient {
  return {
    ...node,
    batch: async (calls) =>
      (await node.batch(calls)).map((answer, at) =>
        calls[at]?.method === 'eth_maxPriorityFeePerGas'
          ? { ok: true, result: toHex(tip) }
          : answer,
      ),
  }
}

describe.each(['0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  let chain: EngineChain
  let world: SponsorWorld
  let appId = ''
  let seeds = 0
  let node: NodeClient

  beforeAll(async () => {
    chain = await openEngineChain(version)
    const { entryPoint, chainId, engine } = chain
    const { heads } = engine
    node = suggesting(engine.node, parseGwei('0.001'))
    const { database } = testDatabase()
    world = sponsorWorld({ database, node, heads, entryPoint, definition: { chainId }, engine })
    appId = await createApp(database)
    await world.makeTank(appId, parseEther('5'))
  })
  afterAll(async () => {
    world?.close()
    await chain?.close()
  })

  /** Blocks in which transactions pay tips of a thousandth of a gwei, as on most rollups. */
  const cheapen = async (): Promise<Fees> => {
    for (let left = 12; left > 0; left--) {
      const tip = { maxPriorityFeePerGas: parseGwei('0.001') }
      const hash = await chain.wallet.sendTransaction({ to: TARGET, value: 0n, ...tip })
      await chain.wallet.waitForTransactionReceipt({ hash })
    }
    return (await adviseFees(node, await chain.engine.heads.refresh(), {})).fast
  }

  const ask = async (fees: Partial<Fees>) => {
    const seed = `bribe ${version} ${seeds++}`
    const drafted = { ...(await chain.draft('deployed', seed, { to: TARGET })), ...unsetGas }
    const draft: Draft = { ...drafted, ...fees }
    await chain.engine.heads.refresh()
    return { seed, ...(await world.sponsor.sponsor(world.request(appId, draft))) }
  }

  test.each([
    ['1 gwei', () => parseGwei('1')],
    ['five times the fast one', (fast: bigint) => fast * 5n],
    ['more than twice the fast one', (fast: bigint) => fast * 2n + 1n],
  ])('a tip of %s is not signed where the chain is cheap', async (_, tipOf) => {
    await ask({})
    const fast = await cheapen()
    expect(fast.maxPriorityFeePerGas).toBe(parseGwei('0.001'))
    const maxPriorityFeePerGas = tipOf(fast.maxPriorityFeePerGas)
    const maxFeePerGas = fast.maxFeePerGas + maxPriorityFeePerGas
    const { decision } = await ask({ maxFeePerGas, maxPriorityFeePerGas })
    expect(decision).toMatchObject({ sponsored: false, code: 'FEE_TOO_HIGH' })
  })

  test('a stranger keeps twice the fast tip at most', async () => {
    // The account of the operation is made before the advice is taken.
    const fast = await cheapen()
    const maxPriorityFeePerGas = fast.maxPriorityFeePerGas
    const { seed, operation, decision } = await ask({
      maxFeePerGas: fast.maxFeePerGas,
      maxPriorityFeePerGas,
    })
    expect(decision.sponsored).toBe(true)
    const { gain, gasCharged, gasUsed, paid } = await carryAsStranger(
      chain,
      await chain.sign(operation, seed),
    )
    const unused = gasCharged > gasUsed ? gasCharged - gasUsed : 0n
    const most = gasCharged * 2n * fast.maxPriorityFeePerGas + (unused * paid) / gasCharged
    expect(gain).toBeLessThanOrEqual(most)
  })
})
