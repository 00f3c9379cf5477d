import { concatHex, encodeFunctionData, type Hex, numberToHex, parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import { DETERMINISTIC_DEPLOYER } from '../../src/chain/contracts/deployments.js'
import type { AccountCall } from '../../src/cli/devnet/simpleAccount.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { bundleCost } from '../../src/gas/preVerificationGas.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { compileSolidity } from '../support/chain/compileSolidity.js'
import { expectNoLoss } from '../support/chain/executorGains.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import type { World } from '../support/world/openWorld.js'
import { lower, TARGET, VERSIONS, type VersionChain } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * Calls with 4 kB of dense data, which cost 160,000 gas by the floor price of EIP-7623 and 64,000 otherwise. One that
 * stores its data is expensive enough for the latter. That of an attacker is it until his bundle is on its way.
 */

const { Fickle } = compileSolidity(`
contract Fickle {
  bool public cheap;
  mapping(uint256 => uint256) slots;
  function becomeCheap() external { cheap = true; }
  fallback() external {
    if (!cheap) for (uint256 i = 1; i < 13; i++) slots[i] = i;
  }
}`)
const dense: Hex = `0x00${'5a'.repeat(3_999)}`
/** Creation code that returns what follows it. */
const KEEP: Hex = '0x600b5981380380925939f3'

const bundling = useWorld({ definition: { rules: 'full' } })

/** A word that is this version's alone, so that its contracts are too. */
function wordOf(version: Version): Hex {
  return numberToHex(VERSIONS.indexOf(version), { size: 32 })
}

/** An operation as a client sends it, with what our estimate says: its hash and fields. */
async function admitEstimated(
  bundling: World,
  chain: VersionChain,
  { seed, call }: { readonly seed: string; readonly call: AccountCall },
) {
  const draft = await chain.draft('deployed', seed, call)
  await chain.fund(draft.sender)
  const gas = await bundling.estimate(chain.entryPoint, { ...draft, ...unsetGas })
  const op = await chain.sign(complete(draft, gas), seed)
  return { op, hash: await bundling.admit(op, chain.entryPoint) }
}

type Sent = Awaited<ReturnType<typeof admitEstimated>>

/** Gas that the operation paid and that its bundle of one took, and the floor of the latter where there is one. */
async function figuresOf(bundling: World, chain: VersionChain, { op, hash }: Sent) {
  const { actualGasUsed, receipt } = await bundling.receipt(hash)
  const { gasUsed } = await bundling.tester.getTransactionReceipt({ hash: receipt.transactionHash })
  const data = chain.entryPoint.encodeHandleOps([op], bundling.executors[0]!.address)
  const carried = [{ op, contextSize: 0 }]
  const { floor } = bundleCost(chain.entryPoint, carried, data, { hasBeneficiary: false })
  return { paid: actualGasUsed, spent: gasUsed, floor }
}

describe.each(VERSIONS)('4 kB of call data, EntryPoint v%s', (version) => {
  const own = wordOf(version)
  const chain = () => bundling().at(version)

  test('that a call stores is paid at 4/16 gas a byte where unused gas is charged', async () => {
    const from = (await bundling().tester.getBlock()).number
    const data = concatHex([own, KEEP, dense])
    const call = { to: lower(DETERMINISTIC_DEPLOYER), data }
    const sent = await admitEstimated(bundling(), chain(), { seed: 'stores', call })
    await bundling().settle()
    const { paid, spent, floor } = await figuresOf(bundling(), chain(), sent)
    expect(spent).toBeGreaterThan(floor)
    const most = version === '0.6' ? 106n : 101n
    expect(paid).toBeLessThanOrEqual((spent * most) / 100n)
    await expectNoLoss(bundling().tester, [bundling().executors[0]!.address], from)
  })

  test('costs the executor nothing when the call becomes cheap behind the simulation', async () => {
    const fickle = await chain().deploy(concatHex([Fickle!.bytecode, own]))
    const from = (await bundling().tester.getBlock()).number
    const call = { to: fickle, data: dense }
    const sent = await admitEstimated(bundling(), chain(), { seed: 'fickle', call })
    await bundling().tester.setAutomine(false)
    await bundling().round()
    const data = encodeFunctionData({ abi: Fickle!.abi, functionName: 'becomeCheap' })
    const fees = { maxFeePerGas: parseGwei('90'), maxPriorityFeePerGas: parseGwei('80') }
    const changing = await chain().wallet.sendTransaction({
      to: fickle,
      data,
      gas: 100_000n,
      ...fees,
    })
    await bundling().tester.mine({ blocks: 1 })
    const changed = await chain().wallet.waitForTransactionReceipt({ hash: changing })
    await bundling().tester.setAutomine(true)
    await bundling().settle()
    const { receipt } = await bundling().receipt(sent.hash)
    expect(receipt.blockNumber).toBe(changed.blockNumber)
    expect(receipt.transactionIndex).toBeGreaterThan(changed.transactionIndex)
    const { spent, floor } = await figuresOf(bundling(), chain(), sent)
    expect(spent).toBe(floor)
    await expectNoLoss(bundling().tester, [bundling().executors[0]!.address], from)
  })
})

describe('on a chain without the floor price', () => {
  /** Arbitrum has none in its rules of Prague; on anvil Cancun has none. */
  const exempt = useWorld({
    definition: { rules: 'full', calldataFloor: false },
    args: ['--hardfork', 'cancun'],
  })

  test.each(VERSIONS)(
    '4 kB cost their 4/16 gas a byte, whatever the call does, EntryPoint v%s',
    async (version) => {
      const chain = exempt().at(version)
      const from = (await exempt().tester.getBlock()).number
      const data = concatHex([wordOf(version), KEEP, dense])
      const calls = {
        stores: { to: lower(DETERMINISTIC_DEPLOYER), data },
        nothing: { to: TARGET, data: dense },
      }
      for (const [seed, call] of Object.entries(calls)) {
        const sent = await admitEstimated(exempt(), chain, { seed, call })
        await exempt().settle()
        const { paid, spent, floor } = await figuresOf(exempt(), chain, sent)
        // With the floor, a call that does nothing would pay it.
        if (seed === 'nothing') expect(spent).toBeLessThan(floor)
        expect(paid, seed).toBeGreaterThanOrEqual(spent)
        expect(paid, seed).toBeLessThanOrEqual((spent * 102n) / 100n)
      }
      await expectNoLoss(exempt().tester, [exempt().executors[0]!.address], from)
    },
  )
})
