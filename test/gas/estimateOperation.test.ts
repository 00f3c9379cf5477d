import { type Address, encodeFunctionData, type Hex, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  ExecutionRevertedError,
  OperationLimitError,
  PaymasterRejectedError,
  ValidationRejectedError,
} from '../../src/base/errors/operationErrors.js'
import type { StateOverride } from '../../src/chain/ethCall.js'
import { adviseFees } from '../../src/chain/fees.js'
import type { Head } from '../../src/chain/head.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { getBalance, getBlock } from '../../src/chain/nodeReads.js'
import { createStateProvider } from '../../src/chain/stateProvider.js'
import type { Draft } from '../../src/erc4337/draft.js'
import type { Log, OperationOutcome } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { estimateOperation, type GasEstimate } from '../../src/gas/estimateOperation.js'
import { preVerificationGas } from '../../src/gas/preVerificationGas.js'
import type { Engine } from '../../src/simulation/engine.js'
import { createInProcessEngine } from '../../src/simulation/inProcess/inProcessEngine.js'
import { createNodeEngine } from '../../src/simulation/node/nodeEngine.js'
import type { Receipt } from '../support/chain/startAnvil.js'
import {
  type Account,
  executeCall,
  startV06Chain,
  type V06Chain,
} from '../support/chain/v06Chain.js'
import { contracts } from '../support/chain/v06Contracts.js'
import { silent } from '../support/logger.js'
import { withoutHeadroom } from '../support/operations/withoutHeadroom.js'
import { simulations } from '../support/simulations.js'

let chain: V06Chain
let target: Address
let paymaster: Address
let snapshot: unknown

beforeAll(async () => {
  chain = await startV06Chain()
  target = await chain.deploy(contracts.Target!.bytecode)
  paymaster = await chain.deploy(contracts.Paymaster!.bytecode)
  await chain.deposit(paymaster, parseEther('10'))
})
afterAll(() => chain.stop())
beforeEach(async () => {
  snapshot = await chain.anvil.request('evm_snapshot', [])
})
afterEach(async () => {
  await chain.anvil.request('evm_revert', [snapshot])
})

function call(functionName: string, ...args: unknown[]): Hex {
  return encodeFunctionData({ abi: contracts.Target!.abi, functionName, args })
}
function on(functionName: string, ...args: unknown[]) {
  return executeCall(target, call(functionName, ...args))
}

/** Every engine estimates alike. */
const engines: Record<string, (head: Head) => Promise<Engine>> = {
  node: async () => createNodeEngine({ node: chain.node }),
  'in-process': async (head) => {
    const heads = { current: () => head, refresh: async () => head, onHead: () => () => false }
    return createInProcessEngine({
      state: await createStateProvider({ node: chain.node, heads, chainId: 31_337 }),
      simulations,
      requester: undefined,
    })
  },
}
let makeEngine: (head: Head) => Promise<Engine>

async function estimate(draft: Draft, override?: StateOverride): Promise<GasEstimate> {
  const head = await getBlock(chain.node, 'latest')
  if (head === undefined) throw new Error('no head')
  const context = {
    node: chain.node,
    engine: await makeEngine(head),
    definition: { chainId: 31_337, maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n },
    advice: await adviseFees(chain.node, head, {}),
    bundleSize: 1,
    hasBeneficiary: false,
  }
  return estimateOperation(context, chain.entryPoint, draft, override)
}

function withGas(draft: Draft, gas: GasEstimate): Operation {
  return {
    ...draft,
    callGasLimit: gas.callGasLimit,
    verificationGasLimit: gas.verificationGasLimit,
    preVerificationGas: gas.preVerificationGas,
    maxFeePerGas: gas.maxFeePerGas,
    maxPriorityFeePerGas: gas.maxPriorityFeePerGas,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
  }
}

/**
 * Signs and runs alone; undefined when the bundle reverts. Leaves no trace.
 */
async function outcomeOf(account: Account, op: Operation): Promise<OperationOutcome | undefined> {
  const call = chain.bundle([await chain.sign(account, op)])
  const block = { calls: [{ from: chain.anvil.account, ...call }] }
  const [simulated] = (await chain.anvil.request('eth_simulateV1', [
    { blockStateCalls: [block] },
    'latest',
  ])) as [{ readonly calls: readonly [Pick<Receipt, 'logs'>] }]
  const logs = simulated.calls[0].logs.map(
    (log): Log => ({
      ...log,
      blockNumber: BigInt(log.blockNumber),
      transactionIndex: Number(log.transactionIndex),
      logIndex: Number(log.logIndex),
    }),
  )
  return chain.entryPoint.decodeOutcomes(logs)[0]
}

/** The smallest value of `field` with which the operation is included and succeeds. */
async function smallest(
  account: Account,
  op: Operation,
  field: 'callGasLimit' | 'verificationGasLimit',
): Promise<bigint> {
  expect(await outcomeOf(account, op)).toMatchObject({ success: true })
  let [fails, does] = [-1n, op[field]]
  while (does - fails > 1n) {
    const middle = (fails + does) / 2n
    const outcome = await outcomeOf(account, { ...op, [field]: middle })
    if (outcome?.success) does = middle
    else fails = middle
  }
  return does
}

const accounts = {
  deployed: () => chain.deployedAccount(1),
  counterfactual: async () => {
    const account = await chain.account(2)
    await chain.setBalance(account.address, parseEther('1'))
    return account
  },
}
const calls: Record<string, () => Partial<Operation>> = {
  'no call': () => ({}),
  'a plain call': () => ({ callData: executeCall(target, '0x', 1n) }),
  'a heavy call': () => ({ callData: on('write', 0n, 150n) }),
  'a deeply nested call': () => ({ callData: on('nest', 12n, 20n) }),
  'a call that swallows a failing inner call': () => ({ callData: on('swallow', 30n) }),
  'a sponsored call': () => ({ callData: on('write', 0n, 2n), paymaster }),
}

describe.each(Object.entries(engines))('the %s engine:', (_, engineOf) => {
  beforeAll(() => {
    makeEngine = engineOf
  })

  describe.each(Object.entries(accounts))('an operation of a %s account', (_, makeAccount) => {
    test.each(Object.entries(calls))('with %s succeeds with its estimate', async (_, makeCall) => {
      const account = await makeAccount()
      const draft = await chain.draft(account, makeCall())
      const gas = await estimate(draft)
      const outcome = await outcomeOf(account, withGas(draft, gas))
      expect(outcome).toMatchObject({ success: true, sender: account.address })
      expect(gas.maxFeePerGas).toBeGreaterThan(0n)
      expect(gas).toMatchObject({ validAfter: 0, validUntil: 0 })
    })

    test.each(Object.entries(calls))('with %s has tight limits', async (name, makeCall) => {
      const account = await makeAccount()
      const draft = await chain.draft(account, makeCall())
      const gas = await estimate(draft)
      const op = withGas(draft, gas)
      const verification = await smallest(account, op, 'verificationGasLimit')
      // Paying the prefund costs some gas more under the probe.
      const most = verification + verification / 64n + 364n
      expect(withoutHeadroom(chain.entryPoint, op)).toBeLessThanOrEqual(most)
      if (name === 'no call') {
        expect(gas.callGasLimit).toBe(0n)
      } else if (!name.includes('swallows')) {
        const smallestCall = await smallest(account, op, 'callGasLimit')
        expect(gas.callGasLimit).toBeLessThanOrEqual((smallestCall * 102n) / 100n + 64n)
      }
    })
  })

  describe('a call', () => {
    test('that swallows an inner failure is given the gas that the inner call needs', async () => {
      const account = await accounts.deployed()
      const draft = await chain.draft(account, { callData: on('swallow', 30n) })
      const op = withGas(draft, await estimate(draft))
      await chain.handleOps([await chain.sign(account, op)])
      const written = await chain.anvil.client.readContract({
        address: target,
        abi: contracts.Target!.abi,
        functionName: 'slots',
        args: [29n],
      })
      expect(written).toBe(30n)
    })

    test('too heavy for the trials of one eth_call is still measured', async () => {
      const account = await accounts.deployed()
      const draft = await chain.draft(account, { callData: on('burn', 80_000n) })
      const gas = await estimate(draft)
      expect(gas.callGasLimit).toBeGreaterThan(8_000_000n)
      const op = withGas(draft, gas)
      expect(await outcomeOf(account, op)).toMatchObject({ success: true })
      const less = { ...op, callGasLimit: (gas.callGasLimit * 98n) / 100n }
      expect(await outcomeOf(account, less)).toMatchObject({ success: false })
    })

    test('that reverts is an execution error with the reason', async () => {
      const draft = await chain.draft(await accounts.deployed(), {
        callData: on('fail', 'too late'),
      })
      const error = await estimate(draft).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(ExecutionRevertedError)
      expect(error.message).toContain('too late')
      expect(error.data.revertData).toMatch(/^0x08c379a0/)
    })

    test('that reverts after the account is created too', async () => {
      const draft = await chain.draft(await chain.account(9), { callData: on('failCustom') })
      const error = await estimate(draft).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(ExecutionRevertedError)
      expect(error.message).toMatch(/custom error 0x[0-9a-f]{8}/)
    })

    test('that sends more than the sender has reverts, though gas is paid for it', async () => {
      const account = await accounts.deployed()
      const callData = executeCall(target, '0x', parseEther('1') + 1n)
      const poor = await chain.draft(account, { callData })
      await expect(estimate(poor)).rejects.toBeInstanceOf(ExecutionRevertedError)
      const sponsored = await chain.draft(account, { callData, paymaster })
      await expect(estimate(sponsored)).rejects.toBeInstanceOf(ExecutionRevertedError)
      const all = await chain.draft(account, {
        callData: executeCall(target, '0x', parseEther('1')),
      })
      expect((await estimate(all)).callGasLimit).toBeGreaterThan(0n)
    })
  })

  describe('a payer', () => {
    test('without a wei does not fail an estimate', async () => {
      const account = await chain.account(3)
      expect(await getBalance(chain.node, account.address)).toBe(0n)
      const draft = await chain.draft(account, { callData: on('write', 0n, 1n) })
      expect((await estimate(draft)).verificationGasLimit).toBeGreaterThan(100_000n)
    })

    test('that must pay its prefund is measured paying it', async () => {
      const account = await chain.deployedAccount(4)
      const draft = await chain.draft(account, { callData: on('write', 0n, 1n) })
      const withDeposit = await estimate(draft)
      const expensive = { ...draft, maxFeePerGas: parseEther('0.0001'), maxPriorityFeePerGas: 1n }
      const paying = await estimate(expensive)
      expect(paying.verificationGasLimit).toBeGreaterThan(withDeposit.verificationGasLimit + 5000n)
      await chain.setBalance(account.address, parseEther('1000'))
      expect(await outcomeOf(account, withGas(expensive, paying))).toMatchObject({ success: true })
    })

    test('that is a paymaster without deposit does not fail an estimate', async () => {
      const poor = await chain.deploy(contracts.Paymaster!.bytecode)
      const draft = await chain.draft(await accounts.deployed(), {
        callData: on('write', 0n, 1n),
        paymaster: poor,
      })
      expect((await estimate(draft)).callGasLimit).toBeGreaterThan(0n)
    })
  })

  describe('a paymaster', () => {
    const set = (work: bigint, until: bigint, badSignature: boolean, failsAt: bigint) =>
      chain.anvil.send({
        to: paymaster,
        data: encodeFunctionData({
          abi: contracts.Paymaster!.abi,
          functionName: 'set',
          args: [work, until, badSignature, failsAt],
        }),
      })

    test('with a context has its postOp covered by verificationGasLimit', async () => {
      await set(30n, 0n, false, 0n)
      const account = await accounts.deployed()
      const draft = await chain.draft(account, { callData: on('write', 0n, 1n), paymaster })
      const gas = await estimate(draft)
      expect(gas.verificationGasLimit).toBeGreaterThan(30n * 20_000n)
      const op = withGas(draft, gas)
      expect(await outcomeOf(account, op)).toMatchObject({ success: true, paymaster })
      const least = await smallest(account, op, 'verificationGasLimit')
      // The prefund has room for 1 kB of context and for what v0.6 meters beyond the limits.
      expect(gas.verificationGasLimit).toBeLessThanOrEqual((least * 102n) / 100n + 50_000n)
    })

    test('whose postOp reverts is refused with its reason', async () => {
      await set(1n, 0n, false, 2n)
      const draft = await chain.draft(await accounts.deployed(), { paymaster })
      const error = await estimate(draft).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(PaymasterRejectedError)
      expect(error).toMatchObject({ code: -32501, rule: 'AA50', data: { paymaster } })
      expect(error.message).toBe('AA50 postOp reverted: cannot charge')
    })

    test('that refuses is an error with its reason', async () => {
      await set(0n, 0n, false, 1n)
      const draft = await chain.draft(await accounts.deployed(), { paymaster })
      const error = await estimate(draft).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(PaymasterRejectedError)
      expect(error.message).toBe('AA33 reverted: not today')
    })

    test('whose signature fails is accepted, and its time range is returned', async () => {
      await set(0n, 2_000_000_000n, true, 0n)
      const draft = await chain.draft(await accounts.deployed(), { paymaster })
      expect(await estimate(draft)).toMatchObject({ validUntil: 2_000_000_000 })
    })
  })

  describe('validation', () => {
    test('refusals are operation errors', async () => {
      const account = await accounts.deployed()
      const draft = await chain.draft(account, {})
      const refused = (op: Draft) => estimate(op).catch((thrown) => thrown)
      const stale = await refused({ ...draft, nonce: draft.nonce + 7n })
      expect(stale).toBeInstanceOf(ValidationRejectedError)
      expect(stale.code).toBe(-32500)
      expect(stale.message).toMatch(
        /^AA25 invalid account nonce: the operation has nonce \d+, the account is at \d+$/,
      )
      const factory = account.address
      expect(await refused({ ...draft, factory })).toMatchObject({ rule: 'AA10' })
      const nobody: Address = '0x00000000000000000000000000000000000000dd'
      expect(await refused({ ...draft, sender: nobody })).toMatchObject({ rule: 'AA20' })
      expect(await refused({ ...draft, paymaster: nobody })).toMatchObject({
        code: -32501,
        rule: 'AA30',
      })
    })

    test('an account that asks for no signature is estimated without one', async () => {
      const sender = await chain.deploy(contracts.UnsignedAccount!.bytecode)
      await chain.anvil.request('anvil_setBalance', [sender, '0xde0b6b3a7640000'])
      const account = await accounts.deployed()
      const draft: Draft = {
        ...(await chain.draft(account, {})),
        sender,
        nonce: 0n,
        callData: '0x',
        signature: '0x',
      }
      const op = withGas(draft, await estimate(draft))
      const receipt = await chain.handleOps([op])
      expect(receipt.status).toBe('0x1')
      expect(await getBalance(chain.node, sender)).toBeLessThan(parseEther('1'))
    })

    test('a signature of absurd length is refused', async () => {
      const draft = await chain.draft(await accounts.deployed(), {})
      const long: Hex = `0x${'ab'.repeat(8193)}`
      await expect(estimate({ ...draft, signature: long })).rejects.toBeInstanceOf(
        OperationLimitError,
      )
    })
  })

  describe('fees', () => {
    test('given ones come back, missing ones are advised', async () => {
      const draft = await chain.draft(await accounts.deployed(), {})
      const given = { maxFeePerGas: 5_000_000_123n, maxPriorityFeePerGas: 77n }
      expect(await estimate({ ...draft, ...given })).toMatchObject(given)
      const advised = await estimate(draft)
      expect(await estimate({ ...draft, maxPriorityFeePerGas: 77n })).toMatchObject({
        maxFeePerGas: advised.maxFeePerGas - advised.maxPriorityFeePerGas + 77n,
        maxPriorityFeePerGas: 77n,
      })
      expect(await estimate({ ...draft, maxFeePerGas: 3n })).toMatchObject({
        maxFeePerGas: 3n,
        maxPriorityFeePerGas: 3n,
      })
    })
  })

  describe('preVerificationGas', () => {
    test('suffices for the signed operation that comes of the estimate, within 1 %', async () => {
      const account = await accounts.deployed()
      const draft = await chain.draft(account, { callData: on('write', 0n, 1n) })
      const gas = await estimate(draft)
      const op = await chain.sign(account, withGas(draft, gas))
      const share = {
        bundleSize: 1,
        verificationGasUsed: 0n,
        hasBeneficiary: false,
        contextSize: 0,
      }
      const required = preVerificationGas(chain.entryPoint, op, share)
      expect(gas.preVerificationGas).toBeGreaterThanOrEqual(required)
      expect(gas.preVerificationGas).toBeLessThanOrEqual((required * 101n) / 100n)
    })
  })

  describe("the caller's state override", () => {
    test('is what the operation meets', async () => {
      const account = await accounts.deployed()
      const fresh: Address = '0x00000000000000000000000000000000000000ee'
      const callData = executeCall(fresh, call('burn', 100n))
      const draft = await chain.draft(account, { callData })
      const plain = await estimate(draft)
      const overridden = await estimate(draft, { [fresh]: { code: contracts.Target!.runtime } })
      expect(overridden.callGasLimit).toBeGreaterThan(plain.callGasLimit + 10_000n)
    })

    test('of the sender balance wins', async () => {
      const draft = await chain.draft(await chain.account(5), {})
      const poor = estimate(draft, { [draft.sender]: { balance: '0x1' } })
      await expect(poor).rejects.toMatchObject({ rule: 'AA21' })
    })

    test('of the EntryPoint code is respected', async () => {
      const draft = await chain.draft(await accounts.deployed(), {})
      const broken = estimate(draft, { [chain.entryPoint.address]: { code: '0x60006000fd' } })
      await expect(broken).rejects.toBeInstanceOf(ValidationRejectedError)
    })
  })
})

test('an estimate on the node takes a call for each trial, and few trials', async () => {
  const account = await accounts.deployed()
  const calls: string[] = []
  const node = createNodeClient({
    urls: [chain.anvil.url],
    logger: silent,
    onExchange: ({ methods }) => calls.push(...methods),
  })
  const engine = createNodeEngine({ node })
  const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n }
  const context = {
    node,
    engine,
    definition: { chainId: 31_337, maxBundleGas: 16_000_000n, maxVerificationGas: 5_000_000n },
    advice: { slow: fees, standard: fees, fast: fees },
    bundleSize: 1,
    hasBeneficiary: false,
  }
  const draft = await chain.draft(account, { callData: on('write', 0n, 3n) })
  await estimateOperation(context, chain.entryPoint, draft)
  calls.length = 0
  await estimateOperation(context, chain.entryPoint, draft)
  const trials = () => calls.filter((method) => method === 'eth_call').length
  expect(trials()).toBeLessThanOrEqual(12)
  calls.length = 0
  await estimateOperation(context, chain.entryPoint, { ...draft, paymaster })
  expect(trials()).toBeLessThanOrEqual(16)
  await node.close()
})
