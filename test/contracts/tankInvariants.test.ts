import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  parseEther,
  size,
  slice,
  toFunctionSelector,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, describe, test } from 'vitest'
import { abi as tankAbi } from '../../src/chain/contracts/generated/Tank06.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { fundAccount } from '../../src/cli/devnet/fundAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { createRandom, type Random } from '../evm/random.js'
import { randomRuns } from '../support/runs.js'
import { OWNER_KEY, SIGNER_A, SIGNER_B, TARGET, VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

/*
 * Random sequences of everything that anybody can do to two tanks of one owner, compared with a model of what may have happened:
 * deposits change by what is paid in, by what the owner takes out, and by the charges of operations that the tank's
 * own signers signed, as they are, in time and once.
 */

const seed = Number(process.env.PURSER_TEST_SEED ?? 20_261_124)
const STEPS = randomRuns(300)
const STRANGER = devKey(6)

/** A sponsored operation, and whether its tank must accept it. */
type Made = { readonly op: Operation; readonly isValid: boolean }

describe.each(VERSIONS)(`two tanks on EntryPoint v%s (seed ${seed})`, (version) => {
  const chain = useVersionChain(version)
  afterAll(() => chain().anvil.stop())

  test('nobody moves wei that is not his, whatever he calls', { timeout: 240_000 }, async () => {
    const random = createRandom(seed)
    const tanks = [await chain().createTank(0), await chain().createTank(1)] as const
    const model = new Map<Address, bigint>(tanks.map((tank) => [tank, parseEther('1')]))
    for (const key of [OWNER_KEY, SIGNER_A, STRANGER])
      await fundAccount(chain().anvil.url, privateKeyToAccount(key).address, parseEther('10'))
    const add = (tank: Address, wei: bigint) => model.set(tank, model.get(tank)! + wei)

    const by = async (key: Hex, to: Address, data: Hex, value = 0n): Promise<boolean> => {
      const account = privateKeyToAccount(key)
      const transaction = { account, to, data, value, gas: 1_000_000n }
      const hash = await chain().wallet.sendTransaction(transaction)
      const { status } = await chain().wallet.waitForTransactionReceipt({ hash })
      return status === 'success'
    }

    const payIn = async (tank: Address): Promise<void> => {
      const wei = BigInt(random.below(10 ** 9))
      const data = random.oneIn(2)
        ? '0x'
        : encodeFunctionData({ abi: tankAbi, functionName: 'deposit' })
      expect(await by(random.pick([STRANGER, OWNER_KEY]), tank, data, wei)).toBe(true)
      add(tank, wei)
    }

    const takeOut = async (tank: Address): Promise<void> => {
      const key = random.pick([OWNER_KEY, OWNER_KEY, SIGNER_A, STRANGER])
      const deposit = model.get(tank)!
      const wei = random.oneIn(4) ? deposit + 1n : deposit / BigInt(2 + random.below(1_000))
      const data = encodeFunctionData({
        abi: tankAbi,
        functionName: 'withdrawTo',
        args: [TARGET, wei],
      })
      const isAllowed = key === OWNER_KEY && wei <= deposit
      expect(await by(key, tank, data)).toBe(isAllowed)
      if (isAllowed) add(tank, -wei)
    }

    /** Calls of a stranger: each function of the tank, of a paymaster and none, with bytes of chance. */
    const selectors = tankAbi
      .filter((member) => member.type === 'function')
      .map((member) => toFunctionSelector(member))
    const callAnything = async (tank: Address): Promise<void> => {
      const chosen = random.oneIn(5) ? '0x' : random.pick(selectors)
      const data = concatHex([chosen, toHex(random.bytes(random.below(400)))])
      const value = random.oneIn(3) ? BigInt(random.below(1_000)) : 0n
      const before = await chain().depositOf(tank)
      await by(random.pick([STRANGER, SIGNER_A]), tank, data, value)
      // Whatever it was: a payment at most.
      const gained = (await chain().depositOf(tank)) - before
      expect([0n, value]).toContain(gained)
      add(tank, gained)
    }

    const used: Operation[] = []
    const make = async (at: number): Promise<Made> => {
      const tank = random.pick(tanks)
      const name = `invariant ${version} ${at}`
      const drafted = await chain().accountDraft(name)
      if (used.length > 0 && random.oneIn(8)) return { op: random.pick(used), isValid: false }
      const { timestamp } = await chain().wallet.getBlock()
      const isLate = random.oneIn(6)
      const validUntil = isLate ? Number(timestamp) - 10 : Number(timestamp) + 10_000
      const signerKey = random.pick([SIGNER_A, SIGNER_B, SIGNER_A, STRANGER])
      const named = random.oneIn(6) ? tanks.find((other) => other !== tank)! : tank
      const op = await chain().sponsor(drafted, tank, { signerKey, validUntil, tank: named })
      const isBent = random.oneIn(5)
      const bent = isBent ? bend(op, random) : op
      const isSigned = signerKey !== STRANGER && named === tank
      return { op: await chain().sign(bent, name), isValid: isSigned && !isLate && !isBent }
    }

    const sendOne = async (at: number): Promise<void> => {
      const { op, isValid } = await make(at)
      const { outcome } = await chain().send(op)
      expect(outcome !== undefined, `operation ${at}`).toBe(isValid)
      if (outcome === undefined) return
      expect(outcome.paymaster).toBe(op.paymaster)
      used.push(op)
      add(op.paymaster!, -outcome.actualGasCost)
    }

    for (let at = 0; at < STEPS; at++) {
      const tank = random.pick(tanks)
      const act = random.below(8)
      if (act === 0) await payIn(tank)
      else if (act === 1) await takeOut(tank)
      else if (act === 2) await callAnything(tank)
      else await sendOne(at)
      for (const each of tanks) {
        expect(await chain().depositOf(each), `step ${at}`).toBe(model.get(each))
        expect(await chain().wallet.getBalance({ address: each })).toBe(0n)
        expect(await chain().wallet.getStorageAt({ address: each, slot: '0x0' })).toMatch(/^0x0+$/)
      }
    }
    expect(used.length).toBeGreaterThan(STEPS / 12)
  })
})

/** The operation with one of the signed values changed, or one byte of what the tank signed. */
function bend(op: Operation, random: Random): Operation {
  switch (random.below(4)) {
    case 0:
      return { ...op, callGasLimit: op.callGasLimit + 1n }
    case 1:
      return { ...op, maxPriorityFeePerGas: op.maxPriorityFeePerGas - 1n }
    case 2:
      return { ...op, preVerificationGas: op.preVerificationGas - 1n }
    default: {
      const at = random.below(size(op.paymasterData))
      const byte = Number(slice(op.paymasterData, at, at + 1)) ^ (1 + random.below(255))
      const changed = `0x${byte.toString(16).padStart(2, '0')}` as const
      const before = at === 0 ? '0x' : slice(op.paymasterData, 0, at)
      const isLast = at + 1 === size(op.paymasterData)
      const after = isLast ? '0x' : slice(op.paymasterData, at + 1)
      return { ...op, paymasterData: concatHex([before, changed, after]) }
    }
  }
}
