import { type Address, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import { estimateOperation } from '../../src/gas/estimateOperation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { unsetGas } from '../support/operations/unsetGas.js'
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

const sender: Address = '0x00000000000000000000000000000000c01dca11'

describe.each(VERSIONS)('EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)

  test('an account whose deposit suffices gets the limit that its call needs when it does not pay', async () => {
    const { anvil, engine, entryPoint } = chain()
    const { node, heads } = engine
    await anvil.request('anvil_setCode', [sender, code])
    await chain().fund(sender)
    // Covers close limits and not the ample ones of a search.
    await chain().deposit(sender, parseEther('0.002'))
    const { maxFeePerGas, maxPriorityFeePerGas, ...drafted } = await chain().draft(
      'deployed',
      'cold',
    )
    const own = { sender, nonce: 0n, callData: '0x01', signature: '0x' } as const
    const fees = { maxFeePerGas, maxPriorityFeePerGas }
    const draft = { ...drafted, ...fees, ...own, ...unsetGas }
    const head = await heads.refresh()
    const limits = { maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n }
    const definition = { chainId: 31_337, ...limits }
    const advice = await adviseFees(node, head, {})
    const context = { node, engine, definition, advice, bundleSize: 1, hasBeneficiary: false }
    const gas = await estimateOperation(context, entryPoint, draft)
    expect(gas.callGasLimit).toBeGreaterThan(2_100n)
    const { outcome } = await chain().send(complete(draft, gas))
    expect(outcome).toMatchObject({ success: true, sender })
  })
})
