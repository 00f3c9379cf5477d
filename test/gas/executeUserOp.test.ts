import { type Address, type Hex, hexToBigInt, parseAbi } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import { bundleCost } from '../../src/gas/preVerificationGas.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { executingDraft, signExecuting } from '../support/chain/executingAccount.js'
import { useDatabase } from '../support/database/database.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { useWorld } from '../support/world.js'

const postgres = useDatabase()
/** Not the beneficiary, whose payment would be cheaper once it was called. */
const elsewhere: Address = `0x${'77'.repeat(20)}`
const lastHash = parseAbi(['function lastHash() view returns (bytes32)'])

describe.each(['0.7', '0.8', '0.9'] as const)(
  'operations for executeUserOp, EntryPoint v%s',
  (version) => {
    const bundling = useWorld({ definition: { rules: 'full' } }, postgres)
    const chain = () => bundling().at(version)

    const estimated = async (seed: string, size: number, nonce = 0n): Promise<Operation> => {
      const data: Hex = `0x${'5a'.repeat(size)}`
      const call = size === 0 ? chain().onTarget('write', 0n, 2n) : { to: elsewhere, data }
      const draft = await executingDraft(chain(), seed, call, nonce)
      const gas = await bundling().estimate(chain().entryPoint, { ...draft, ...unsetGas })
      return signExecuting(chain(), complete(draft, gas), seed)
    }

    test('are estimated, admitted and included, with any nonce key, and get their own hash', async () => {
      const keyed = 77n << 64n
      const ops = [await estimated('one', 0), await estimated('two', 0, keyed)]
      const hashes: Hex[] = []
      for (const op of ops) hashes.push(await bundling().admit(op, chain().entryPoint))
      await bundling().settle()
      for (const [at, hash] of hashes.entries()) {
        expect(await bundling().receipt(hash)).toMatchObject({
          success: true,
          nonce: ops[at]!.nonce,
        })
        const address = ops[at]!.sender
        const call = { address, abi: lastHash, functionName: 'lastHash' } as const
        expect(await bundling().tester.readContract(call)).toBe(hash)
      }
      // The second nonce of the same key.
      const next = await estimated('two', 0, keyed + 1n)
      const hash = await bundling().admit(next, chain().entryPoint)
      await bundling().settle()
      expect((await bundling().receipt(hash)).success).toBe(true)
    })

    test.each([0, 320, 1_000, 3_000])(
      'with %i bytes pay what they cost, at most 3 %% more',
      async (size) => {
        const op = await estimated(`pays ${size}`, size)
        const { receipt, outcome } = await chain().send(op)
        expect(outcome?.success).toBe(true)
        const metered = outcome!.actualGasUsed - op.preVerificationGas
        const spent = receipt.gasUsed - metered
        const data = chain().entryPoint.encodeHandleOps([op], chain().executor)
        const { unmetered } = bundleCost(chain().entryPoint, [{ op, contextSize: 0 }], data, {
          hasBeneficiary: false,
        })
        expect(unmetered).toBeGreaterThanOrEqual(spent)
        expect(unmetered).toBeLessThanOrEqual((spent * 103n) / 100n)
        expect(op.preVerificationGas).toBeGreaterThanOrEqual(spent)
      },
    )
  },
)

describe.each(['0.6', '0.7', '0.8', '0.9'] as const)('charges of EntryPoint v%s', (version) => {
  const bundling = useWorld({ definition: { rules: 'full' } }, postgres)
  const chain = () => bundling().at(version)
  let tank: Address

  beforeAll(async () => {
    tank = await chain().createTank(0)
  })

  const signed = async (seed: string, changes: Partial<Operation>, isSponsored = false) => {
    const draft = await chain().draft('deployed', seed, chain().onTarget('write', 0n, 1n))
    if (!isSponsored) await chain().fund(draft.sender)
    const op = { ...draft, ...changes }
    return chain().sign(isSponsored ? await chain().sponsor(op, tank) : op, seed)
  }
  const priceAt = async (op: Operation, block: bigint) => {
    const { baseFeePerGas } = await bundling().tester.getBlock({ blockNumber: block })
    return chain().entryPoint.gasPrice(op, baseFeePerGas!)
  }

  test('both fees equal (legacy) cost the whole maximum, others base fee and tip', async () => {
    for (const fees of [
      { maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 9_000_000_000n },
      { maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 1_234_567n },
    ]) {
      const op = await signed(`legacy ${fees.maxPriorityFeePerGas}`, fees)
      const { outcome, receipt } = await chain().send(op)
      const price = await priceAt(op, receipt.blockNumber)
      expect(outcome!.actualGasCost).toBe(outcome!.actualGasUsed * price)
      if (fees.maxPriorityFeePerGas === fees.maxFeePerGas) expect(price).toBe(fees.maxFeePerGas)
    }
  })

  test('unused call gas costs a tenth where the version has the penalty, above its threshold', async () => {
    const usedWith = async (callGasLimit: bigint, isSponsored: boolean) => {
      const seed = `penalty ${callGasLimit} ${isSponsored}`
      const op = await signed(seed, { callGasLimit }, isSponsored)
      const { outcome } = await chain().send(op)
      expect(outcome).toMatchObject({ success: true })
      expect(outcome!.actualGasCost).toBeLessThanOrEqual(chain().entryPoint.requiredPrefund(op))
      return outcome!.actualGasUsed
    }
    for (const isSponsored of [false, true]) {
      const tight = await usedWith(100_000n, isSponsored)
      const wide = await usedWith(1_100_000n, isSponsored)
      const penalty = version === '0.6' ? 0n : 100_000n
      // Calldata, which the EntryPoint does not see, and the digits of the limit differ at most.
      expect(wide - tight).toBeGreaterThanOrEqual(penalty - 100n)
      expect(wide - tight).toBeLessThanOrEqual(penalty + 100n)
    }
  })

  test('an estimate leaves no call gas unused that would be charged', async () => {
    const draft = await chain().draft('deployed', 'tight', chain().onTarget('write', 5n, 3n))
    await chain().fund(draft.sender)
    const gas = await bundling().estimate(chain().entryPoint, { ...draft, ...unsetGas })
    const op = await chain().sign(complete(draft, gas), 'tight')
    const { outcome, hash } = await chain().send(op)
    expect(outcome).toMatchObject({ success: true })
    type Frame = { to: Address; gasUsed: `0x${string}`; calls?: Frame[] }
    const trace = (await bundling().tester.request({
      method: 'debug_traceTransaction',
      params: [hash, { tracer: 'callTracer' }],
    } as never)) as Frame
    const inner = trace.calls!.find(({ to, calls }) => to === chain().entryPoint.address && calls)!
    const used = hexToBigInt(inner.calls!.find(({ to }) => to === op.sender)!.gasUsed)
    expect(op.callGasLimit).toBeGreaterThanOrEqual(used)
    expect(op.callGasLimit).toBeLessThanOrEqual((used * 105n) / 100n + 64n)
  })
})
