import { type Address, type Hex, numberToHex, parseEther, parseGwei } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { TimeRangeError } from '../../src/base/errors/operationErrors.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { rangedAccountCode } from '../support/chain/rangedAccount.js'
import { useDatabase } from '../support/database/database.js'
import { until } from '../support/until.js'
import { useFreshWorld, useWorld } from '../support/world.js'

/**
 * The attacker wants the operator to pay for bundles that revert. Validity that ends between simulation
 * and block costs the attacker nothing: v0.9 knows ranges of blocks, of which one that ends at the head
 * passes every simulation there. Honest sponsored operations end in time too, after a wait.
 */
const postgres = useDatabase()
const BLOCK_FLAG = 1n << 47n

/** validationData of these first and last blocks. */
function rangeOf(after: bigint, until: bigint): Hex {
  return numberToHex(((BLOCK_FLAG | after) << 208n) | ((BLOCK_FLAG | until) << 160n), { size: 32 })
}

describe('ranges of blocks on EntryPoint v0.9', () => {
  const bundling = useWorld(
    {
      definition: {
        rules: 'off',
        resubmitAfter: 15_000,
      },
    },
    postgres,
  )
  let accounts = 0

  /** An operation of a new account, valid from so many to so many blocks after the head. */
  const operation = async (after: bigint, until: bigint): Promise<Operation> => {
    const { tester, at } = bundling()
    const sender = numberToHex(0xdef000 + ++accounts, { size: 20 })
    await tester.setCode({ address: sender, bytecode: rangedAccountCode })
    await tester.setBalance({ address: sender, value: parseEther('1') })
    const drafted = await at('0.9').draft('deployed', `range ${accounts}`)
    return {
      ...drafted,
      sender,
      nonce: 0n,
      callData: '0x5a5a5a5a',
      callGasLimit: 50_000n,
      verificationGasLimit: 100_000n,
      preVerificationGas: 100_000n,
      maxFeePerGas: parseGwei('20'),
      maxPriorityFeePerGas: parseGwei('2'),
      signature: rangeOf((await head()) + after, (await head()) + until),
    }
  }

  const balance = () => bundling().balanceOf(bundling().executors[0]!.address)
  const head = () => bundling().tester.getBlockNumber({ cacheTime: 0 })

  test.each([0n, 1n, 2n])(
    'that end %i blocks after the head cost the operator nothing',
    async (left) => {
      const before = await balance()
      const ending = await operation(-1n, left)
      const admitted = bundling().admit(ending, bundling().at('0.9').entryPoint)
      await expect(admitted).rejects.toThrow(/^AA27 outside valid block range: valid until block/)
      await expect(admitted).rejects.toBeInstanceOf(TimeRangeError)
      await bundling().settle()
      expect(await balance()).toBeGreaterThanOrEqual(before)
    },
  )

  test('that begin with the next block are served, those that begin later refused', async () => {
    const { entryPoint } = bundling().at('0.9')
    const due = await operation(0n, 10_000n)
    const hash = await bundling().admit(due, entryPoint)
    await bundling().settle()
    expect(await bundling().receipt(hash)).toMatchObject({ success: true })
    const early = await operation(1n, 10_000n)
    await expect(bundling().admit(early, entryPoint)).rejects.toThrow(/^AA27 .* valid after block/)
  })

  test('that end while the operation waits make it leave the pool, at no cost', async () => {
    const { tester, at } = bundling()
    const op = await operation(-1n, 400n)
    const last = (await head()) + 400n
    const hash = await bundling().admit(op, at('0.9').entryPoint)
    expect(await bundling().stored(hash)).toMatchObject({ validUntilBlock: last })
    const before = await balance()
    await tester.mine({ blocks: Number(last - (await head())) - 1 })
    await bundling().settle()
    expect(await bundling().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'EXPIRED' })
    expect(await balance()).toBe(before)
  })
})

describe('an operation whose time ends', () => {
  const chain = useFreshWorld({ definition: { resubmitAfter: 1 } }, postgres)
  let start: bigint

  beforeEach(async () => {
    start = await balance()
  })

  const balance = (): Promise<bigint> =>
    chain().anvil.client.getBalance({ address: chain().executors[0]!.address })
  const now = async () => Number((await chain().anvil.client.getBlock()).timestamp)
  const mineAt = async (time: number): Promise<void> => {
    await chain().anvil.request('evm_setNextBlockTimestamp', [time])
    await chain().anvil.request('evm_mine', [])
  }

  /** An operation that is valid until then, admitted. */
  const admitUntil = async (account: Address, validUntil: number): Promise<Hex> => {
    await chain().configure(account, { validationData: BigInt(validUntil) << 160n })
    return chain().admit(chain().operation(account))
  }

  test('is not bundled when two blocks and a resubmission may pass it', async () => {
    const end = (await now()) + 600
    const hash = await admitUntil(await chain().createAccount(), end)
    await chain().setAutomine(false)
    await mineAt(end)
    await chain().round()
    await mineAt(end + 5)
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'EXPIRED' })
    expect(await balance()).toBe(start)
  })

  test('is taken out of a bundle that is not mined in time, for the price of a transfer', async () => {
    const end = (await now()) + 600
    const hash = await admitUntil(await chain().createAccount(), end)
    await chain().setAutomine(false)
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('bundled')
    // A block without our bundle, whose base fee is too high for it.
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(parseGwei('50'))])
    await mineAt(end)
    await chain().round()
    const [bundle] = await chain().openBundles()
    expect(bundle?.attempts.at(-1)?.noop).toBe(true)
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(parseGwei('1'))])
    await mineAt(end + 5)
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'EXPIRED' })
    // A reverted bundle would use the gas of a validation and its calldata on top.
    expect(start - (await balance())).toBeLessThan(21_000n * parseGwei('110'))
  })

  test('a bundle that would revert is cancelled instead of raised', async () => {
    const account = await chain().createAccount()
    const hash = await chain().admit(chain().operation(account))
    await chain().setAutomine(false)
    await chain().round()
    const [bundled] = await chain().openBundles()
    await chain().anvil.request('anvil_dropTransaction', [bundled!.attempts[0].hash])
    await chain().setAutomine(true)
    await chain().configure(account, { refuses: true })
    await chain().setAutomine(false)
    await until(async () => {
      await chain().round()
      const [open] = await chain().openBundles()
      return open!.attempts.length === 2
    })
    const [open] = await chain().openBundles()
    expect(open!.attempts.map(({ noop }) => noop)).toEqual([false, true])
    await chain().anvil.request('evm_mine', [])
    await chain().round()
    expect((await chain().stored(hash)).state).not.toBe('included')
    expect(start - (await balance())).toBeLessThan(30_000n * parseGwei('10'))
  })
})
