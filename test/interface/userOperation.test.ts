import { describe, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { describedResult as result, describedRpc as rpc } from '../support/http/describedRpc.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

const prices = ['maxFeePerGas', 'maxPriorityFeePerGas'] as const
const limits = ['verificationGasLimit', 'callGasLimit', 'preVerificationGas'] as const
const gasFields = [...prices, ...limits]
const byteFields = ['initCode', 'callData', 'paymasterAndData', 'signature'] as const

/** Of the form of a real one, so that some address can be recovered from it. */
const STRANGERS_SIGNATURE = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b` as const

function estimate(operation: unknown, ...more: unknown[]) {
  return rpc(info().bundlerUrl, 'eth_estimateUserOperationGas', [
    operation,
    info().entryPoints['0.6'],
    ...more,
  ])
}

function send(operation: unknown, ...more: unknown[]) {
  return rpc(info().bundlerUrl, 'eth_sendUserOperation', [
    operation,
    info().entryPoints['0.6'],
    ...more,
  ])
}

function expectFieldError({ status, body }: Awaited<ReturnType<typeof rpc>>, field: string) {
  expect(status).toBe(400)
  expect(body.error?.code).toBe(-32602)
  expect(body.error?.message).toContain(field)
}

describe('UserOperation (request object, bundler methods)', () => {
  test.each(gasFields)(
    '%s: hex string or decimal string mean the same operation',
    async (field) => {
      const { selfPaid, send: sendOperation } = await devAccount(info(), `decimal ${field}`)
      const op = await selfPaid()
      const hash = await sendOperation(op)
      const decimal = { ...toInterfaceOperation(op), [field]: op[field].toString() }
      expect((await send(decimal)).body.result).toBe(hash)
      const padded = { ...toInterfaceOperation(op), [field]: `0x000${op[field].toString(16)}` }
      expect((await send(padded)).body.result).toBe(hash)
    },
  )

  test.each([...gasFields, 'nonce'])('%s: no number is refused by name', async (field) => {
    const { account } = await devAccount(info(), 'malformed')
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    for (const wrong of ['0xzz', 'ten', '-1', 1.5, {}, [], true, `0x1${'0'.repeat(64)}`]) {
      expectFieldError(await estimate({ ...op, [field]: wrong }), field)
    }
  })

  test('maxPriorityFeePerGas: a plain "0" is accepted', async () => {
    const { account, fund } = await devAccount(info(), 'zero tip')
    await fund()
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    const { status, body } = await estimate({
      ...op,
      maxFeePerGas: '5000000000',
      maxPriorityFeePerGas: '0',
    })
    expect(status).toBe(200)
    expect(body.result.maxPriorityFeePerGas).toBe('0')
  })

  test.each(['sender'])('%s: an address in any case, nothing else', async (field) => {
    const { account } = await devAccount(info(), 'sender')
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    const upper = `0x${account.address.slice(2).toUpperCase()}`
    expect((await estimate({ ...op, sender: upper })).status).toBe(200)
    for (const wrong of ['0x', '0x12', `${account.address}00`, 5, null, undefined]) {
      expectFieldError(await estimate({ ...op, sender: wrong }), field)
    }
  })

  test('nonce: hex quantity string', async () => {
    const { account } = await devAccount(info(), 'nonce')
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    expect((await estimate({ ...op, nonce: '0x00' })).status).toBe(200)
    expectFieldError(await estimate({ ...op, nonce: undefined }), 'nonce')
  })

  test.each(byteFields)('%s: even-length hex, nothing else', async (field) => {
    const { account } = await devAccount(info(), 'bytes')
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    for (const wrong of ['0x1', '0xzz', '12', 12, {}])
      expectFieldError(await estimate({ ...op, [field]: wrong }), field)
    if (field !== 'signature') expectFieldError(await estimate({ ...op, [field]: null }), field)
  })

  test.each(['initCode', 'paymasterAndData'])('%s: "0x" when none', async (field) => {
    const { account, selfPaid, send: sendOperation } = await devAccount(info(), `none ${field}`)
    await receiptOf(info(), await sendOperation(await selfPaid()))
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    expect(op[field]).toBe('0x')
    expect((await estimate(op)).status).toBe(200)
  })

  test('Rules: for an estimate limits and prices may be omitted', async () => {
    const { account } = await devAccount(info(), 'omitted')
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    for (const field of gasFields) expect(op).not.toHaveProperty(field)
    expect((await estimate(op)).status).toBe(200)
    for (const unset of ['0x', '0x0', 0, '0', null]) {
      expect((await estimate({ ...op, callGasLimit: unset })).status).toBe(200)
    }
  })

  test('Rules: for an estimate the signature is present and of the right length, its content is ignored', async () => {
    const { account } = await devAccount(info(), 'semi-valid')
    const op = toInterfaceOperation(await account.draft({ to: account.address }))
    expect((await estimate({ ...op, signature: STRANGERS_SIGNATURE })).status).toBe(200)
    // A missing one is taken for the most common dummy.
    expect((await estimate({ ...op, signature: undefined })).status).toBe(200)
    const short = await estimate({ ...op, signature: '0x1234' })
    expect(short.status).toBe(400)
    expect(short.body.error?.message).toMatch(/signature/i)
  })

  test('Rules: for sending all fields appear', async () => {
    const { selfPaid } = await devAccount(info(), 'all fields')
    const op: Record<string, unknown> = toInterfaceOperation(await selfPaid())
    for (const field of Object.keys(op)) {
      if (field === 'initCode' || field === 'paymasterAndData') continue
      expectFieldError(await send({ ...op, [field]: undefined }), field)
    }
  })
})

describe('Simulation options (third element of eth_sendUserOperation params)', () => {
  test.each([
    [undefined],
    [{}],
    [{ simulation_type: 'validation' }],
    [{ simulation_type: 'validation_and_execution' }],
  ])('simulation_type: %j is accepted', async (options) => {
    const { selfPaid } = await devAccount(info(), `simulation ${JSON.stringify(options)}`)
    const op = toInterfaceOperation(await selfPaid())
    const { status, body } = await send(op, ...(options ? [options] : []))
    expect(status).toBe(200)
    expect(body.result).toMatch(/^0x[0-9a-f]{64}$/)
  })

  test('simulation_type: another value is refused by name', async () => {
    const { selfPaid } = await devAccount(info(), 'simulation wrong')
    const op = toInterfaceOperation(await selfPaid())
    expectFieldError(await send(op, { simulation_type: 'none' }), 'simulation_type')
  })

  test('simulation_type: with execution a reverting call is refused, without it is included', async () => {
    const { hashOf, selfPaid, sign } = await devAccount(info(), 'reverting')
    const op = await selfPaid()
    const reverting = await sign({ ...op, callData: '0xdeadbeef' })
    const strict = await send(toInterfaceOperation(reverting), {
      simulation_type: 'validation_and_execution',
    })
    expect(strict.status).toBe(400)
    expect(strict.body.error?.code).toBe(-32521)
    const lenient = await send(toInterfaceOperation(reverting), { simulation_type: 'validation' })
    expect(lenient.body.result).toBe(hashOf(reverting))
    expect((await receiptOf(info(), lenient.body.result)).success).toBe('false')
  })
})

describe('Gas estimate result (eth_estimateUserOperationGas)', () => {
  test('has exactly the fields and types of the table', async () => {
    const { account } = await devAccount(info(), 'estimate')
    const { body } = await estimate(
      toInterfaceOperation(await account.draft({ to: account.address })),
    )
    const shape = body.result
    for (const field of limits) expect(shape[field]).toBeTypeOf('number')
    for (const field of ['validUntil', 'validAfter']) {
      expect(shape[field]).toEqual({
        type: 'BigNumber',
        hex: expect.stringMatching(/^0x[0-9a-f]+$/),
      })
    }
    for (const field of prices) expect(shape[field]).toMatch(/^\d+$/)
    expect(Object.keys(shape).sort()).toEqual([...gasFields, 'validAfter', 'validUntil'].sort())
  })
})

describe('UserOperation submission', () => {
  test('accepted: the result is the userOpHash, then a receipt exists', async () => {
    const { selfPaid, hashOf, send: sendOperation } = await devAccount(info(), 'accepted')
    const op = await selfPaid()
    const hash = await sendOperation(op)
    expect(hash).toBe(hashOf(op))
    expect((await receiptOf(info(), hash)).userOpHash).toBe(hash)
  })

  test('rejected: validation fails and the reason is returned', async () => {
    const { selfPaid } = await devAccount(info(), 'rejected')
    const op = await selfPaid()
    const wrong = toInterfaceOperation({
      ...op,
      signature: STRANGERS_SIGNATURE,
    })
    const { status, body } = await send(wrong)
    expect(status).toBe(400)
    expect(body.error).toMatchObject({
      code: -32507,
      message: expect.stringMatching(
        /^AA24 signature error: the hash of the operation is 0x.*\(Invalid UserOp signature or paymaster signature\)$/,
      ),
    })
  })

  test('an unsupported entry point is refused and the supported ones are named', async () => {
    const { selfPaid } = await devAccount(info(), 'entry point')
    const op = toInterfaceOperation(await selfPaid())
    const other = `0x${'ab'.repeat(20)}`
    const { status, body } = await rpc(info().bundlerUrl, 'eth_sendUserOperation', [op, other])
    expect(status).toBe(400)
    expect(body.error?.message.toLowerCase()).toContain(info().entryPoints['0.6']?.toLowerCase())
  })

  test('receipt of an unknown hash is null, also while the operation waits', async () => {
    const unknown = `0x${'ab'.repeat(32)}`
    expect(await result(info().bundlerUrl, 'eth_getUserOperationReceipt', [unknown])).toBeNull()
  })
})
