import { type Address, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import type { Draft } from '../../src/erc4337/draft.js'
import { estimateOperation, type GasEstimate } from '../../src/gas/estimateOperation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { withoutHeadroom } from '../support/operations/withoutHeadroom.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/*
 * An account that reads a slot when it pays the EntryPoint, and in its call, as a Safe with its module does: the call
 * needs 2,000 gas less where the account has to pay.
 */

/** Call data of one byte makes it read slot 0; longer ones are a validation, which pays what is missing. */
const code = `0x${[
  '60203611600b57', // longer than a word?
  '5f545000', // the call: reads the slot
  '5b6044358015602057', // the validation: is nothing missing?
  '5f5450', // reads the slot
  '5f5f5f5f84335af150', // pays
  '5b5f5f5260205ff3', // is valid
].join('')}` as const

describe.each(VERSIONS)('EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)

  async function draftOf(sender: Address): Promise<Draft> {
    await chain().anvil.request('anvil_setCode', [sender, code])
    await chain().fund(sender)
    const drafted = await chain().draft('deployed', 'cold')
    const { maxFeePerGas, maxPriorityFeePerGas } = drafted
    const own = { sender, nonce: 0n, callData: '0x01', signature: '0x' } as const
    return { ...drafted, ...own, ...unsetGas, maxFeePerGas, maxPriorityFeePerGas }
  }

  async function estimate(draft: Draft): Promise<GasEstimate> {
    const { engine, entryPoint } = chain()
    const { node, heads } = engine
    const head = await heads.refresh()
    const limits = { maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n }
    const definition = { chainId: 31_337, ...limits }
    const advice = await adviseFees(node, head, {})
    const context = { node, engine, definition, advice, bundleSize: 1, hasBeneficiary: false }
    return estimateOperation(context, entryPoint, draft)
  }

  test('an account whose deposit suffices gets the limit that its call needs when it does not pay', async () => {
    const sender: Address = '0x00000000000000000000000000000000c01dca11'
    const draft = await draftOf(sender)
    // Covers close limits and not the ample ones of a search.
    await chain().deposit(sender, parseEther('0.002'))
    const gas = await estimate(draft)
    expect(gas.callGasLimit).toBeGreaterThan(2_100n)
    const { outcome } = await chain().send(complete(draft, gas))
    expect(outcome).toMatchObject({ success: true, sender })
  })

  test('an account whose deposit lacks some of what an estimate adds gets the limits of one that pays', async () => {
    const sender: Address = '0x00000000000000000000000000000000c01dca12'
    const draft = await draftOf(sender)
    // A slot that is zero costs 20,000 gas when it is paid into.
    await chain().deposit(sender, 1n)
    const paying = await estimate(draft)
    const op = complete(draft, paying)
    const { entryPoint } = chain()
    const close = { ...op, verificationGasLimit: withoutHeadroom(entryPoint, op) + 2_000n }
    await chain().deposit(sender, entryPoint.requiredPrefund(close))
    const gas = await estimate(draft)
    const { callGasLimit, verificationGasLimit } = paying
    expect(gas).toMatchObject({ callGasLimit, verificationGasLimit })
    const { outcome } = await chain().send(complete(draft, gas))
    expect(outcome).toMatchObject({ success: true, sender })
  })
})
