import fc from 'fast-check'
import { encodeFunctionData, type Hex, hexToBigInt, slice } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixedBundleGas } from '../../src/erc4337/bundleGas.js'
import type { OperationOutcome, Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { logsOf } from '../support/chain/logs.js'
import {
  calldataGas,
  type ScriptedChain,
  scriptedAbi,
  scriptedAddress,
  startScriptedChain,
} from '../support/chain/scriptedBundles.js'

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
const PLAIN = [0, 1, 2, 3].map(scriptedAddress)
const BURNING = [10, 11, 12, 13].map(scriptedAddress)
const PAYMASTER = scriptedAddress(20)
const VERIFICATION_GAS = 300_000n
const POST_OP_GAS = 80_000n

/** Between the gas a call is given and what the scripted contract reads first. */
const DISPATCH = 3_000n

const burnAndFail = encodeFunctionData({ abi: scriptedAbi, functionName: 'burnAndFail' })
function padded(bytes: number): Hex {
  return `0x${burnAndFail.slice(2)}${'77'.repeat(bytes)}`
}
function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

describe.each(versions)('gas of a bundle in EntryPoint v%s', (version) => {
  describe('on a chain', () => {
    let chain: ScriptedChain

    beforeAll(async () => {
      chain = await startScriptedChain(version)
      for (const address of PLAIN) await chain.configure(address, 0n, false)
      for (const address of BURNING) await chain.configure(address, 60_000n, false)
      await chain.configure(PAYMASTER, 60_000n, true)
    })

    afterAll(async () => {
      await chain.stop()
    })

    const build = async (
      senders: readonly Hex[],
      size: number,
      fields: Partial<Operation>,
    ): Promise<Operation[]> => {
      const ops: Operation[] = []
      for (const sender of senders) ops.push(await chain.operation(sender, padded(size), fields))
      return ops
    }

    it('is charged to the operations but for the overhead', async () => {
      const { entryPoint } = chain
      const bundle = async (count: number) => {
        const ops = await build(PLAIN.slice(0, count), 128, { callGasLimit: 30_000n })
        const receipt = await chain.handleOps(ops, 5_000_000n)
        const outcomes = entryPoint.decodeOutcomes(logsOf(receipt))
        expect(outcomes).toHaveLength(count)
        const charged = sum(
          ops.map((op, at) => outcomes[at]!.actualGasUsed - op.preVerificationGas),
        )
        return hexToBigInt(receipt.gasUsed) - calldataGas(chain.input(ops)).intrinsic - charged
      }
      await bundle(PLAIN.length)
      for (const count of [1, 2, 3, 4]) {
        const overhead =
          fixedBundleGas(entryPoint) + BigInt(entryPoint.gas().overhead.perOp * count)
        const residual = await bundle(count)
        expect(residual, `${count} operations`).toBeLessThanOrEqual(overhead)
        expect(residual, `${count} operations`).toBeGreaterThan(overhead - 300n)
      }
    })

    it('suffices when every contract uses all it is given', async () => {
      const { entryPoint } = chain
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: BURNING.length }),
          fc.boolean(),
          fc.bigInt({ min: 5_000n, max: 2_000_000n }),
          fc.integer({ min: 0, max: 5_000 }),
          async (count, sponsored, callGasLimit, size) => {
            const ops = await build(BURNING.slice(0, count), size, {
              callGasLimit,
              verificationGasLimit: VERIFICATION_GAS,
              paymaster: sponsored ? PAYMASTER : undefined,
              paymasterVerificationGasLimit: 100_000n,
              paymasterPostOpGasLimit: POST_OP_GAS,
            })
            const { intrinsic, floor } = calldataGas(chain.input(ops))
            const inside = sum(ops.map((op) => entryPoint.bundleGas(op)))
            const limit: bigint = intrinsic + fixedBundleGas(entryPoint) + inside
            const receipt = await chain.handleOps(ops, limit < floor ? floor : limit)
            expect(receipt.status).toBe('0x1')
            const outcomes = entryPoint.decodeOutcomes(logsOf(receipt))
            expect(outcomes).toHaveLength(count)
            for (const outcome of outcomes) {
              const { given, limit } = gasAtEntry(outcome, callGasLimit, sponsored)
              expect(given).toBeGreaterThan(limit - DISPATCH)
            }
          },
        ),
        { numRuns: 40 },
      )
    })

    /** Gas that the last contract found, as its revert reason says, and the limit it was to have. */
    const gasAtEntry = (outcome: OperationOutcome, callGasLimit: bigint, sponsored: boolean) => {
      if (!sponsored)
        return { given: hexToBigInt(slice(outcome.reason, 0, 32)), limit: callGasLimit }
      // A failed postOp undoes the event of the failed call; v0.6 tells nothing of it.
      if (version === '0.6') return { given: 1n, limit: 0n }
      return { given: hexToBigInt(slice(outcome.reason, 68, 100)), limit: POST_OP_GAS }
    }
  })
})
