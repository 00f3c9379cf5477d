import { type Address, concatHex, numberToHex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeReceipt } from '../../src/chain/transactionReceipt.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { createNodeEngine } from '../../src/simulation/node/nodeEngine.js'
import { SPENDER, spendingAccountCode } from '../support/chain/spendingAccount.js'
import { startV06Chain, type V06Chain } from '../support/chain/v06Chain.js'
import { plainOperation } from '../support/operations/plainOperation.js'

let chain: V06Chain
let accounts = 0

beforeAll(async () => {
  chain = await startV06Chain()
})
afterAll(() => chain?.stop())

/** An address with the code of a spending account and a deposit. */
async function spending(): Promise<Address> {
  const address = numberToHex(0xabc000 + ++accounts, { size: 20 })
  await chain.setCode(address, spendingAccountCode)
  await chain.deposit(address, parseEther('10'))
  return address
}

type Shape = { readonly callBytes: number; readonly contextBytes?: number }

async function operation({ callBytes, contextBytes }: Shape): Promise<Operation> {
  const sender = await spending()
  const paymaster = contextBytes === undefined ? undefined : await spending()
  const op = plainOperation({
    sender,
    callData: `0x${'5a'.repeat(callBytes)}`,
    callGasLimit: 100_000n,
    verificationGasLimit: 400_000n,
    maxFeePerGas: parseGwei('20'),
    maxPriorityFeePerGas: parseGwei('1'),
    paymaster,
    paymasterData: paymaster ? concatHex([numberToHex(contextBytes!, { size: 2 }), '0x00']) : '0x',
  })
  return op
}

describe('the most that EntryPoint v0.6 may charge', () => {
  const shapes: readonly Shape[] = [
    { callBytes: 4 },
    { callBytes: 4_000 },
    { callBytes: 30_000 },
    { callBytes: 4, contextBytes: 0 },
    { callBytes: 4, contextBytes: 32 },
    { callBytes: 4_000, contextBytes: 2_000 },
    { callBytes: 4, contextBytes: 20_000 },
  ]

  test.each([1, 3, 8])('is never exceeded in bundles of %i, and not far away', async (number) => {
    for (const shape of shapes) {
      const { callBytes, contextBytes } = shape
      const ops: Operation[] = []
      while (ops.length < number) ops.push(await operation(shape))
      const engine = createNodeEngine(chain)
      const bounds: bigint[] = []
      for (const op of ops) {
        const validated = await engine.validate(chain.entryPoint, op)
        if (!validated.ok) throw new Error(validated.failure.message)
        bounds.push(chain.entryPoint.mostCharged(op, validated.validation)!)
      }
      await chain.anvil.request('anvil_setCoinbase', [SPENDER])
      const raw = await chain.handleOps(ops, 29_000_000n)
      await chain.anvil.request('anvil_setCoinbase', [`0x${'0'.repeat(40)}`])
      const { logs } = decodeReceipt(raw as unknown as Parameters<typeof decodeReceipt>[0])
      const charged = chain.entryPoint
        .decodeOutcomes(logs)
        .map(({ actualGasUsed }) => actualGasUsed)
      expect(charged).toHaveLength(number)
      const spare = bounds.map((bound, at) => bound - charged[at]!)
      for (const gas of spare) {
        expect(gas).toBeGreaterThan(0n)
        expect(gas).toBeLessThan(10_000n + 3n * BigInt(callBytes) + 7n * BigInt(contextBytes ?? 0))
      }
    }
  })
})
