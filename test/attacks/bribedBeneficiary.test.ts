import { type Address, numberToHex, parseEther, parseGwei, toHex } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import type { Fees } from '../../src/erc4337/fees.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import type { HttpNode } from '../support/chain/httpNode.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { carryAsStranger } from '../support/tanks/carryAsStranger.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'
import { TARGET } from '../support/world/versionChain.js'

/*
 * The attacker has an operation sponsored with a tip far above the chain's, and carries it to the chain
 * himself: the tank pays the tip to him.
 */

/** Call data that fills a seventh of a block: one of less than a twentieth counts its lowest tip. */
const crowded = `0x${'ff'.repeat(100_000)}` as const
/** PUSH3 160000; JUMPDEST PUSH1 1 SWAP1 SUB DUP1 PUSH1 4 JUMPI; STOP: rounds of 26 gas. */
const burnsFourMillion = '0x620271005b600190038060045700'

/** The node as one of a rollup, which suggests what is paid there; anvil suggests a gwei at least. */
function suggesting(url: string): Promise<HttpNode> {
  return startChangedNode(url, (method, _, answer) =>
    method === 'eth_maxPriorityFeePerGas'
      ? { ...answer, result: toHex(parseGwei('0.001')) }
      : answer,
  )
}

describe.each(['0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  const { world, chain, makeTank, ...app } = useSponsoredApp(version, { front: suggesting })
  beforeEach(() => makeTank(parseEther('5')))

  /** Blocks in which transactions pay tips of a thousandth of a gwei, as on most rollups. */
  const cheapen = async (): Promise<Fees> => {
    for (let left = 12; left > 0; left--) {
      const tip = { maxPriorityFeePerGas: parseGwei('0.001') }
      const hash = await chain().wallet.sendTransaction({ to: TARGET, value: 0n, ...tip })
      await chain().wallet.waitForTransactionReceipt({ hash })
    }
    return (await adviseFees(world().chain.node, await world().heads.refresh(), {})).fast
  }

  const ask = async (fees: Partial<Fees>) => {
    const { seed, draft } = await app.draftOf('deployed')
    return { seed, ...(await app.ask({ ...draft, ...fees })) }
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

  test('a tip above the fast one is signed where the node suggests it, not where it suggests less', async () => {
    await ask({})
    const fast = await cheapen()
    // What others pay is five times what the node suggests to anyone who asks it.
    for (let left = 12; left > 0; left--) {
      const tip = { maxPriorityFeePerGas: fast.maxPriorityFeePerGas * 5n }
      const hash = await chain().wallet.sendTransaction({
        to: TARGET,
        value: 0n,
        data: crowded,
        ...tip,
      })
      await chain().wallet.waitForTransactionReceipt({ hash })
    }
    const paid = (await adviseFees(world().chain.node, await world().heads.refresh(), {})).fast
    expect(paid.maxPriorityFeePerGas).toBe(fast.maxPriorityFeePerGas * 5n)
    const { maxFeePerGas, maxPriorityFeePerGas: tip } = paid
    expect((await ask({ maxFeePerGas, maxPriorityFeePerGas: tip })).decision.sponsored).toBe(true)
    const { decision } = await ask({ maxFeePerGas, maxPriorityFeePerGas: tip + 1n })
    expect(decision).toMatchObject({ sponsored: false, code: 'FEE_TOO_HIGH' })
  })

  test('an account that burns gas gets little of it signed before an operation of it was included', async () => {
    const burner = numberToHex(0xb0b0n, { size: 20 })
    await world().tester.setCode({ address: burner, bytecode: burnsFourMillion })
    const seed = `burner ${version}`
    const drafted = async (to: Address) => ({
      ...(await chain().draft('counterfactual', seed, { to, data: '0x' })),
      ...unsetGas,
    })
    const refused = await app.ask(await drafted(burner))
    expect(refused.decision).toMatchObject({ sponsored: false, code: 'GAS_TOO_HIGH' })
    expect(refused.decision.message).toMatch(/callGasLimit is 4\d{6};.* 3000000/)
    const small = await app.ask(await drafted(TARGET))
    expect(small.decision.sponsored).toBe(true)
    await world().admit(await chain().sign(small.operation, seed), chain().entryPoint)
    await world().settle()
    const large = await app.ask(await drafted(burner))
    expect(large.decision.sponsored).toBe(true)
    expect(large.operation.callGasLimit).toBeGreaterThan(4_000_000n)
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
      chain(),
      await chain().sign(operation, seed),
    )
    const unused = gasCharged > gasUsed ? gasCharged - gasUsed : 0n
    const most = gasCharged * 2n * fast.maxPriorityFeePerGas + (unused * paid) / gasCharged
    expect(gain).toBeLessThanOrEqual(most)
  })
})
