import { type Address, encodeFunctionData, type Hex, pad, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import type { Draft } from '../../src/erc4337/draft.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { Engine } from '../../src/simulation/engine.js'
import { createNodeEngine } from '../../src/simulation/node/nodeEngine.js'
import {
  type Account,
  executeCall,
  startV06Chain,
  type V06Chain,
} from '../support/chain/v06Chain.js'
import { contracts } from '../support/chain/v06Contracts.js'

let chain: V06Chain
let engine: Engine
let account: Account
let target: Address
let paymaster: Address
let snapshot: unknown

beforeAll(async () => {
  chain = await startV06Chain()
  engine = createNodeEngine({ node: chain.node })
  account = await chain.deployedAccount(1)
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

function complete(draft: Draft): Operation {
  return {
    ...draft,
    callGasLimit: 500_000n,
    verificationGasLimit: 500_000n,
    preVerificationGas: 60_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
  }
}

async function unsigned(call: Partial<Operation>, by = account) {
  return complete(await chain.draft(by, call))
}
async function signed(call: Partial<Operation>, by = account) {
  return chain.sign(by, await unsigned(call, by))
}

function on(functionName: string, ...args: unknown[]): Hex {
  return executeCall(target, encodeFunctionData({ abi: contracts.Target!.abi, functionName, args }))
}

function setPaymaster(work: bigint, until: bigint, badSignature: boolean, failsAt: bigint) {
  return chain.anvil.send({
    to: paymaster,
    data: encodeFunctionData({
      abi: contracts.Paymaster!.abi,
      functionName: 'set',
      args: [work, until, badSignature, failsAt],
    }),
  })
}

describe('validate', () => {
  test('a signed operation is valid', async () => {
    const op = await signed({ callData: on('write', 0n, 1n) })
    const result = await engine.validate(chain.entryPoint, op)
    expect(result).toEqual({
      ok: true,
      validation: {
        accountSignatureFailed: false,
        paymasterSignatureFailed: false,
        validAfter: 0,
        validUntil: 0,
        verificationGasUsed: expect.any(BigInt),
        blocks: { after: 0n, until: 0n },
        contextSize: 0,
        before: { authority: 'delegated', hasDeposit: true },
        prefund: chain.entryPoint.requiredPrefund(op),
        observed: expect.objectContaining({ kind: 'resultOnly' }),
      },
    })
  })

  test('a wrong signature is reported, not refused', async () => {
    expect(await engine.validate(chain.entryPoint, await unsigned({}))).toMatchObject({
      ok: true,
      validation: { accountSignatureFailed: true, paymasterSignatureFailed: false },
    })
  })

  test('a wrong signature of the paymaster is reported separately, with its time range', async () => {
    await setPaymaster(0n, 2_000_000_000n, true, 0n)
    expect(await engine.validate(chain.entryPoint, await signed({ paymaster }))).toMatchObject({
      ok: true,
      validation: {
        accountSignatureFailed: false,
        paymasterSignatureFailed: true,
        validUntil: 2_000_000_000,
      },
    })
    expect(await engine.validate(chain.entryPoint, await unsigned({ paymaster }))).toMatchObject({
      validation: { accountSignatureFailed: true, paymasterSignatureFailed: true },
    })
  })

  test('a counterfactual account is created and validated', async () => {
    const fresh = await chain.account(2)
    await chain.setBalance(fresh.address, parseEther('1'))
    expect(await engine.validate(chain.entryPoint, await signed({}, fresh))).toMatchObject({
      ok: true,
      validation: { accountSignatureFailed: false },
    })
  })

  test.each([
    ['AA25', { nonce: 99n }],
    ['AA20', { sender: '0x00000000000000000000000000000000000000dd' as const }],
    ['AA31', { paymaster: '0x00000000000000000000000000000000000000dd' as const }],
    ['AA94', { maxFeePerGas: 2n ** 121n }],
    ['AA40', { verificationGasLimit: 30_000n }],
  ])('%s is data', async (code, call) => {
    const op = { ...(await signed({})), ...call }
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({
      ok: false,
      failure: { code, message: expect.stringContaining(code) },
    })
  })

  test.each([
    ['RefusingAccount', 'AA23', 'AA23 reverted: not my owner'],
    ['AggregatedAccount', 'AA24', /aggregator 0x0{37}a66 is not supported/],
    ['SilentAccount', undefined, /^validation reverted/],
  ])('%s is refused with what it says', async (name, code, message) => {
    const sender: Address = '0x00000000000000000000000000000000000000ac'
    await chain.setCode(sender, contracts[name]!.runtime)
    await chain.deposit(sender, parseEther('1'))
    const result = await engine.validate(chain.entryPoint, { ...(await unsigned({})), sender })
    expect(result).toMatchObject({
      ok: false,
      failure: {
        code,
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      },
    })
  })

  test('a state override is what the operation meets', async () => {
    const op = await signed({}, await chain.account(3))
    expect(await engine.validate(chain.entryPoint, op)).toMatchObject({ failure: { code: 'AA21' } })
    const rich = { [op.sender]: { balance: '0xde0b6b3a7640000' } } as const
    expect(await engine.validate(chain.entryPoint, op, rich)).toMatchObject({ ok: true })
  })
})

describe('execute', () => {
  test('a call that succeeds is reported, and leaves no state', async () => {
    const op = await signed({ callData: on('write', 0n, 3n) })
    const expected = { ok: true, success: true, revertData: '0x' }
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject(expected)
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject(expected)
  })

  test.each([
    ['fail', ['too late'], /^0x08c379a0.*746f6f206c617465/],
    ['failCustom', [], /^0x[0-9a-f]{136}$/],
    ['failLong', [0n], /^0x$/],
    ['failLong', [2048n], /^0x(00){2048}$/],
    ['failLong', [5000n], /^0x(00){2048}$/],
  ])('%s %s is reported with its revert data', async (name, args, data) => {
    const op = await signed({ callData: on(name, ...args) })
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({
      ok: true,
      success: false,
      revertData: expect.stringMatching(data),
    })
  })

  test('a call that runs out of its callGasLimit is reported as handleOps would have it', async () => {
    const op = await unsigned({ callData: on('write', 0n, 3n) })
    const tight = await chain.sign(account, { ...op, callGasLimit: 40_000n })
    expect(await engine.execute(chain.entryPoint, tight)).toMatchObject({ success: false })
    const enough = await chain.sign(account, { ...op, callGasLimit: 90_000n })
    expect(await engine.execute(chain.entryPoint, enough)).toMatchObject({ success: true })
  })

  test('an operation without a call succeeds, also one that creates its account', async () => {
    expect(await engine.execute(chain.entryPoint, await signed({}))).toMatchObject({
      success: true,
    })
    const fresh = await chain.account(4)
    await chain.setBalance(fresh.address, parseEther('1'))
    const op = await signed({ callData: on('fail', 'born') }, fresh)
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({
      ok: true,
      success: false,
      revertData: expect.stringContaining('626f726e'),
    })
  })

  test('the operation is executed once: it cannot spend twice nor see its simulation', async () => {
    const callData = executeCall(target, '0x', parseEther('0.6'))
    const op = await signed({ callData })
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({ success: true })
  })

  test('a postOp that always reverts is a failure of the paymaster', async () => {
    await setPaymaster(1n, 0n, false, 2n)
    const op = await signed({ callData: on('write', 0n, 1n), paymaster })
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({
      ok: false,
      failure: { code: 'AA50', message: 'AA50 postOp reverted: cannot charge' },
    })
  })

  test('a postOp that works is part of it', async () => {
    await setPaymaster(2n, 0n, false, 0n)
    const op = await signed({ callData: on('write', 0n, 1n), paymaster })
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({ ok: true, success: true })
  })

  test('a refused validation is data', async () => {
    const op = await signed({ nonce: 5n })
    expect(await engine.execute(chain.entryPoint, op)).toMatchObject({
      ok: false,
      failure: { code: 'AA25' },
    })
  })

  test('limits beyond what the node grants change no verdict', async () => {
    const ample = { callGasLimit: 10n ** 9n }
    await chain.setBalance(account.address, parseEther('1000'))
    const cheap = { ...(await unsigned({ callData: on('write', 0n, 1n) })), ...ample }
    expect(await engine.execute(chain.entryPoint, cheap)).toMatchObject({ success: true })
    const endless = { ...(await unsigned({ callData: on('burn', 10n ** 9n) })), ...ample }
    await expect(engine.execute(chain.entryPoint, endless)).rejects.toThrow(/too little gas/)
  })
})

describe('an EntryPoint', () => {
  test('that is not deployed is trouble, not a verdict', async () => {
    const nowhere = createEntryPoint('0.6', pad('0x99', { size: 20 }))
    const op = await signed({})
    await expect(engine.validate(nowhere, op)).rejects.toBeInstanceOf(NodeUnavailableError)
    await expect(engine.execute(nowhere, op)).rejects.toBeInstanceOf(NodeUnavailableError)
  })
})
