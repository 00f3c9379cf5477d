import { type Address, type Hex, numberToHex, parseEther, parseGwei } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { ValidationRejectedError } from '../../src/base/errors/operationErrors.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { SPENDER, spendingAccountCode } from '../support/chain/spendingAccount.js'
import { useWorld } from '../support/world.js'

/**
 * The attacker wants the operator to pay for gas that nobody covers. EntryPoint v0.6 reverts a whole bundle
 * when an operation uses more than its prefund (AA51). Limits are no bound of what it charges: it meters
 * its own work and the copy of a revert reason too. With equal fees it charges maxFeePerGas whatever the
 * base fee is, and then nothing of the prefund is to spare. The attacker's account is modest in every
 * simulation and uses all that it may in the block itself.
 */
const NOBODY: Address = `0x${'0'.repeat(40)}`

describe('an account that spends its whole limits on the chain only', () => {
  const chain = useWorld()
  /** gas of the account's validation */
  let used: bigint

  beforeAll(async () => {
    const op = chain().operation(await createSpender())
    const validated = await chain().context.engine.validate(chain().entryPoint, op)
    if (!validated.ok) throw new Error(validated.failure.message)
    used = validated.validation.verificationGasUsed
  })

  /** A spending account with a deposit. */
  const createSpender = async (): Promise<Address> => {
    const address = await chain().createAccount(parseEther('10'))
    await chain().anvil.request('anvil_setCode', [address, spendingAccountCode])
    return address
  }

  const balance = async (): Promise<bigint> =>
    chain().anvil.client.getBalance({ address: chain().executors[0]!.address })

  /** The executor's loss (wei) by bundles with what was admitted, in blocks of the attacker's choice. */
  const lossInBlocksOf = async (coinbase: Address, baseFee: bigint): Promise<bigint> => {
    const before = await balance()
    await chain().setAutomine(false)
    await chain().round()
    await chain().anvil.request('anvil_setCoinbase', [coinbase])
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFee)])
    await chain().anvil.request('evm_mine', [])
    await chain().anvil.request('anvil_setCoinbase', [NOBODY])
    await chain().setAutomine(true)
    await chain().round()
    return before - (await balance())
  }

  const hostile = async (fields: Partial<Operation>): Promise<Operation> =>
    chain().operation(await createSpender(), {
      callData: '0x5a5a5a5a',
      callGasLimit: 3_000_000n,
      verificationGasLimit: used + 3_000n,
      ...fields,
    })

  /** Admits the operation if Purser takes it; undefined when it is refused for lack of prefund. */
  const tryAdmit = async (op: Operation): Promise<Hex | undefined> => {
    try {
      return await chain().admit(op)
    } catch (error) {
      expect(error).toBeInstanceOf(ValidationRejectedError)
      expect((error as ValidationRejectedError).message).toMatch(/^AA51 prefund below/)
      return undefined
    }
  }

  const gwei = (amount: number) => parseGwei(String(amount))

  test.each([
    ['equal fees', { maxFeePerGas: gwei(10), maxPriorityFeePerGas: gwei(10) }, 1],
    [
      'a tip just below the maximum',
      { maxFeePerGas: gwei(10), maxPriorityFeePerGas: gwei(9.5) },
      1,
    ],
    ['a base fee that rises', { maxFeePerGas: gwei(10), maxPriorityFeePerGas: gwei(2) }, 8],
    [
      'a base fee that rises a little',
      { maxFeePerGas: gwei(10), maxPriorityFeePerGas: gwei(2) },
      7.5,
    ],
  ])('costs the operator nothing with %s', async (_, fees, baseFee) => {
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(gwei(1))])
    await chain().anvil.request('evm_mine', [])
    await chain().heads.refresh()
    const hash = await tryAdmit(await hostile(fees))
    const loss = await lossInBlocksOf(SPENDER, gwei(baseFee))
    expect(loss).toBeLessThanOrEqual(0n)
    if (hash === undefined) return
    // Nothing is left behind for the next case.
    const { state } = await chain().stored(hash)
    if (state !== 'included') expect(await lossInBlocksOf(SPENDER, gwei(1))).toBeLessThanOrEqual(0n)
  })

  test('the same account is served when its verification limit covers the rest', async () => {
    const fees = { maxFeePerGas: gwei(10), maxPriorityFeePerGas: gwei(10) }
    const hash = await chain().admit(
      await hostile({ ...fees, verificationGasLimit: used + 30_000n }),
    )
    expect(await lossInBlocksOf(SPENDER, gwei(1))).toBeLessThanOrEqual(0n)
    expect(await chain().receipt(hash)).toMatchObject({ success: false })
  })

  test('a verification limit within 2,000 gas of the validation is refused', async () => {
    for (const slack of [500n, 1_000n, 1_900n]) {
      const tight = await hostile({ verificationGasLimit: used + slack })
      await expect(chain().admit(tight)).rejects.toThrow(/^AA40 over verificationGasLimit/)
    }
  })
})
