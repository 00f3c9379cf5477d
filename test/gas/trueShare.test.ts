import { encodeFunctionData, type Hex, padHex, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { depositSlot } from '../../src/erc4337/encoding/storageLayout.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { preVerificationGas } from '../../src/gas/preVerificationGas.js'
import {
  type Account,
  beneficiary,
  executeCall,
  startV06Chain,
  type V06Chain,
} from '../support/chain/v06Chain.js'
import { contracts } from '../support/chain/v06Contracts.js'

let chain: V06Chain
let accounts: Account[]

beforeAll(async () => {
  chain = await startV06Chain()
  accounts = []
  for (let number = 1; number <= 5; number++) accounts.push(await withoutDeposit(number))
})
afterAll(() => chain.stop())

/** An account that pays from its balance, as most do; the EntryPoint returns the rest to its deposit. */
async function withoutDeposit(number: number): Promise<Account> {
  const account = await chain.deployedAccount(number)
  const empty = padHex('0x')
  const { address } = chain.entryPoint
  await chain.anvil.request('anvil_setStorageAt', [address, depositSlot(account.address), empty])
  return account
}

function bytes(length: number, byte: string): Hex {
  return `0x${byte.repeat(length)}`
}
const target = '0x1111111111111111111111111111111111111111'

/** A signed operation with limits that are surely enough. */
async function operation(account: Account, call: Partial<Operation>): Promise<Operation> {
  return chain.sign(account, {
    ...(await chain.draft(account, call)),
    callGasLimit: 60_000n,
    verificationGasLimit: 500_000n,
    preVerificationGas: 900_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
  })
}

type Paid = 'the executor' | 'someone else'

function share(
  op: Operation,
  bundleSize: number,
  verificationGasUsed: bigint,
  paid: Paid = 'the executor',
) {
  return preVerificationGas(chain.entryPoint, op, {
    bundleSize,
    verificationGasUsed,
    contextSize: 0,
    hasBeneficiary: paid !== 'the executor',
  })
}

/** Gas that a real bundle costs beyond what the EntryPoint meters of its operations. */
async function unmetered(ops: readonly Operation[], paid: Paid = 'the executor') {
  const payee = paid === 'the executor' ? chain.anvil.account : beneficiary
  const snapshot = await chain.anvil.request('evm_snapshot', [])
  const receipt = await chain.handleOps(ops, undefined, payee)
  await chain.anvil.request('evm_revert', [snapshot])
  expect(receipt.status).toBe('0x1')
  const outcomes = chain.entryPoint.decodeOutcomes(
    receipt.logs.map((log) => ({
      ...log,
      blockNumber: BigInt(log.blockNumber),
      transactionIndex: Number(log.transactionIndex),
      logIndex: Number(log.logIndex),
    })),
  )
  const metered = outcomes.map((outcome, i) => outcome.actualGasUsed - ops[i]!.preVerificationGas)
  const sum = metered.reduce((a, b) => a + b, 0n)
  return { gas: BigInt(receipt.gasUsed) - sum, metered }
}

describe.each<[number, Paid]>([
  [1, 'the executor'],
  [2, 'the executor'],
  [5, 'the executor'],
  [1, 'someone else'],
  [5, 'someone else'],
])('the shares of a bundle of %i that pays %s', (bundleSize, paid) => {
  test.each([
    ['no call data', '0x' as Hex],
    ['320 bytes', bytes(320, 'ab')],
    ['320 zero bytes', bytes(320, '00')],
    ['3,000 bytes', bytes(3000, 'ab')],
    ['6,000 zero bytes', bytes(6000, '00')],
    ['10,000 bytes, where the calldata floor binds', bytes(10_000, 'ab')],
  ])('with %s add up to its true cost, at most 3 %% above', async (_, data) => {
    const callData = executeCall(target, data)
    const ops: Operation[] = []
    for (const account of accounts.slice(0, bundleSize)) {
      ops.push(await operation(account, { callData }))
    }
    const { gas, metered } = await unmetered(ops, paid)
    const charged = ops.reduce((sum, op, i) => sum + share(op, bundleSize, metered[i]!, paid), 0n)
    expect(charged).toBeGreaterThanOrEqual(gas)
    expect(charged).toBeLessThanOrEqual((gas * 103n) / 100n)
  })
})

describe('the share of an operation alone', () => {
  const kinds: Record<string, () => Promise<Operation>> = {
    'that creates its account': async () => {
      const account = await chain.account(77)
      await chain.setBalance(account.address, parseEther('1'))
      return operation(account, { callData: executeCall(target, '0x') })
    },
    'whose call reverts': async () => {
      const failing = await chain.deploy(contracts.Target!.bytecode)
      const data = encodeFunctionData({
        abi: contracts.Target!.abi,
        functionName: 'failLong',
        args: [2048n],
      })
      return operation(accounts[0]!, { callData: executeCall(failing, data) })
    },
    'with a paymaster and its postOp': async () => {
      const paymaster = await chain.deploy(contracts.Paymaster!.bytecode)
      await chain.deposit(paymaster, parseEther('1'))
      const data = encodeFunctionData({
        abi: contracts.Paymaster!.abi,
        functionName: 'set',
        args: [1n, 0n, false, 0n],
      })
      await chain.anvil.send({ to: paymaster, data })
      return operation(accounts[0]!, { callData: executeCall(target, '0x'), paymaster })
    },
  }

  test.each(Object.entries(kinds))(
    '%s covers its true cost, at most 3 %% above',
    async (_, make) => {
      const op = await make()
      const { gas, metered } = await unmetered([op])
      const charged = share(op, 1, metered[0]!)
      expect(charged).toBeGreaterThanOrEqual(gas)
      expect(charged).toBeLessThanOrEqual((gas * 103n) / 100n)
    },
  )
})
