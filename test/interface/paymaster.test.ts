import { type Address, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { describedResult as result, describedRpc as rpc } from '../support/http/describedRpc.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

const sponsored = {
  mode: 'SPONSORED',
  calculateGasLimits: true,
  expiryDuration: 300,
  sponsorshipInfo: { smartAccountInfo: { name: 'SIMPLE', version: '1.0.0' } },
}

function sponsor(op: unknown, mode: unknown = sponsored) {
  return rpc(info().paymasterUrl, 'pm_sponsorUserOperation', [op, mode])
}

/** A partial operation with fees and without limits, as the SDK sends it. */
async function partial(seed: string) {
  const tools = await devAccount(info(), seed)
  const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
  const draft = tools.withGas(await tools.account.draft({ to: TARGET }), fees)
  return { ...tools, draft }
}

/** The draft with everything that the paymaster answered. */
function apply(draft: Operation, answer: Record<string, string>): Operation {
  return {
    ...draft,
    callGasLimit: BigInt(answer.callGasLimit ?? 0),
    verificationGasLimit: BigInt(answer.verificationGasLimit ?? 0),
    preVerificationGas: BigInt(answer.preVerificationGas ?? 0),
    paymaster: (answer.paymasterAndData ?? '').slice(0, 42) as Address,
    paymasterData: `0x${(answer.paymasterAndData ?? '').slice(42)}`,
  }
}

function expectFieldError({ status, body }: Awaited<ReturnType<typeof rpc>>, field: string) {
  expect(status).toBe(400)
  expect(body.error?.code).toBe(-32602)
  expect(body.error?.message).toContain(field)
}

describe('Partial UserOperation (paymaster request, params[0])', () => {
  test.each(['sender', 'nonce', 'initCode', 'callData'])(
    '%s: malformed is refused by name',
    async (field) => {
      const { draft } = await partial('partial malformed')
      expectFieldError(await sponsor({ ...toInterfaceOperation(draft), [field]: '0xz' }), field)
    },
  )

  test.each([
    'maxFeePerGas',
    'maxPriorityFeePerGas',
    'callGasLimit',
    'verificationGasLimit',
    'preVerificationGas',
  ])('%s: hex or decimal string, malformed is refused by name', async (field) => {
    const { draft } = await partial('partial gas')
    const op = toInterfaceOperation(draft)
    expectFieldError(await sponsor({ ...op, [field]: 'many' }), field)
    expect((await sponsor({ ...op, [field]: '0x5f5e100' })).status).toBe(200)
    expect((await sponsor({ ...op, [field]: '100000000' })).status).toBe(200)
  })

  test('callGasLimit, verificationGasLimit, preVerificationGas: estimated when missing', async () => {
    const { draft } = await partial('partial missing')
    const { body } = await sponsor(toInterfaceOperation(draft), {
      ...sponsored,
      calculateGasLimits: false,
    })
    expect(body.result.callGasLimit).toBeGreaterThan(0)
    expect(body.result.verificationGasLimit).toBeGreaterThan(0)
    expect(Number(body.result.preVerificationGas)).toBeGreaterThan(0)
  })
})

describe('Paymaster mode object (paymaster request, params[1])', () => {
  test('mode: mandatory', async () => {
    const op = toInterfaceOperation((await partial('mode')).draft)
    const { mode: _, ...without } = sponsored
    expectFieldError(await sponsor(op, without), 'mode')
    expectFieldError(await sponsor(op, null), 'params[1]')
    expectFieldError(await sponsor(op, { ...sponsored, mode: 'FREE' }), 'mode')
  })

  test('mode: SPONSORSHIP means SPONSORED', async () => {
    const op = toInterfaceOperation((await partial('alias')).draft)
    const { body } = await sponsor(op, { ...sponsored, mode: 'SPONSORSHIP' })
    expect(body.result).toMatchObject({ mode: 'SPONSORED', MODE: 'SPONSORED' })
  })

  test('calculateGasLimits: false signs and echoes the given limits', async () => {
    const { draft } = await partial('given limits')
    const op = {
      ...toInterfaceOperation(draft),
      callGasLimit: '150000',
      verificationGasLimit: '600000',
      preVerificationGas: '70000',
    }
    const { body } = await sponsor(op, { ...sponsored, calculateGasLimits: false })
    expect(body.result).toMatchObject({
      callGasLimit: 150_000,
      verificationGasLimit: 600_000,
      preVerificationGas: '70000',
    })
  })

  test('calculateGasLimits: true replaces the given limits', async () => {
    const { draft } = await partial('replaced limits')
    const op = { ...toInterfaceOperation(draft), callGasLimit: '3000000' }
    const { body } = await sponsor(op)
    expect(body.result.callGasLimit).toBeLessThan(200_000)
  })

  test('expiryDuration: seconds until the signature ends, 300 when absent', async () => {
    const { draft, client } = await partial('expiry')
    const op = toInterfaceOperation(draft)
    const validUntil = async (mode: unknown) => {
      const { body } = await sponsor(op, mode)
      return Number.parseInt(body.result.paymasterAndData.slice(42, 54), 16)
    }
    const { expiryDuration: _, ...without } = sponsored
    const now = Number((await client.getBlock()).timestamp)
    const clock = Math.max(now, Math.floor(Date.now() / 1000))
    const plain = await validUntil(without)
    expect(plain).toBeGreaterThanOrEqual(Math.min(now, clock) + 300)
    expect(plain).toBeLessThanOrEqual(clock + 330)
    expect((await validUntil({ ...sponsored, expiryDuration: 600 })) - plain).toBeGreaterThan(250)
    expect((await validUntil({ ...sponsored, expiryDuration: 6_000 })) - plain).toBeLessThan(3_400)
    for (const wrong of [5, -1, 1.5, 'long']) {
      expectFieldError(await sponsor(op, { ...sponsored, expiryDuration: wrong }), 'expiryDuration')
    }
  })

  test.each([
    ['sponsorshipInfo', 7],
    ['sponsorshipInfo.webhookData', { webhookData: 7 }],
  ])('%s: an object', async (field, value) => {
    const op = toInterfaceOperation((await partial('info')).draft)
    expectFieldError(await sponsor(op, { ...sponsored, sponsorshipInfo: value }), field)
  })

  test('sponsorshipInfo.smartAccountInfo: taken as it is', async () => {
    const op = toInterfaceOperation((await partial('smart account')).draft)
    const { smartAccountInfo } = sponsored.sponsorshipInfo
    expect(
      (await sponsor(op, { ...sponsored, sponsorshipInfo: { smartAccountInfo } })).status,
    ).toBe(200)
    expect((await sponsor(op, { mode: 'SPONSORED' })).status).toBe(200)
  })

  test('tokenInfo.feeTokenAddress: ERC20 without a token address is an error', async () => {
    const op = toInterfaceOperation((await partial('no token')).draft)
    for (const tokenInfo of [undefined, {}, { feeTokenAddress: '' }]) {
      const { status, body } = await sponsor(op, { mode: 'ERC20', tokenInfo })
      expect(status).toBe(400)
      expect(body.error?.code).toBe(-32602)
      expect(body.error?.message).toMatch(/^tokenInfo\.feeTokenAddress is required/)
    }
  })

  test('tokenInfo.feeTokenAddress: an unsupported token is an error that says what is supported', async () => {
    const op = toInterfaceOperation((await partial('unsupported token')).draft)
    const tokenInfo = { feeTokenAddress: `0x${'22'.repeat(20)}` }
    const { status, body } = await sponsor(op, { mode: 'ERC20', tokenInfo })
    expect(status).toBe(400)
    expect(body.error?.code).toBe(-32602)
    expect(body.error?.message).toMatch(/not supported/i)
    for (const token of info().tokens) expect(body.error?.message).toContain(token.address)
  })
})

describe('Paymaster result', () => {
  test('has the fields and types of the table and is included as signed', async () => {
    const { draft, sign, send } = await partial('result')
    const { body } = await sponsor(toInterfaceOperation(draft))
    const answer = body.result
    expect(answer).toMatchObject({ MODE: 'SPONSORED', mode: 'SPONSORED' })
    expect(answer.paymasterAndData.slice(0, 42).toLowerCase()).toBe(
      info().tanks['0.6']?.toLowerCase(),
    )
    expect(answer.preVerificationGas).toMatch(/^\d+$/)
    expect(answer.verificationGasLimit).toBeTypeOf('number')
    expect(answer.callGasLimit).toBeTypeOf('number')

    const hash = await send(await sign(apply(draft, answer)))
    const receipt = await receiptOf(info(), hash)
    expect(receipt.success).toBe('true')
    expect(receipt.paymaster.toLowerCase()).toBe(info().tanks['0.6']?.toLowerCase())
  })

  test('a changed operation is refused: every field is signed', async () => {
    const { draft, sign } = await partial('changed')
    const { body } = await sponsor(toInterfaceOperation(draft))
    const op = apply(draft, body.result)
    const changed = await sign({ ...op, callGasLimit: op.callGasLimit + 1n })
    const refused = await rpc(info().bundlerUrl, 'eth_sendUserOperation', [
      toInterfaceOperation(changed),
      info().entryPoints['0.6'],
    ])
    expect(refused.body.error?.message).toContain('AA34')
  })

  test('refusal: paymasterAndData "0x", usable limits and the reason', async () => {
    const { draft, sign, send, fund } = await partial('refusal')
    // More than a sponsored operation may bid.
    const expensive = { ...draft, maxFeePerGas: 10n ** 17n }
    const { status, body } = await sponsor(toInterfaceOperation(expensive))
    expect(status).toBe(200)
    expect(body.result).toMatchObject({ mode: 'SPONSORED', paymasterAndData: '0x' })
    expect(body.result.sponsorship).toMatchObject({ sponsored: false })
    expect(body.result.sponsorship.code).toMatch(/^[A-Z_]+$/)
    expect(body.result.sponsorship.message).toMatch(/\d/)
    await fund(parseEther('1000000'))
    const op = { ...apply(draft, body.result), paymaster: undefined, paymasterData: '0x' as const }
    expect((await receiptOf(info(), await send(await sign(op)))).success).toBe('true')
  })

  test('pm_getFeeQuoteOrData in mode SPONSORED answers the same', async () => {
    const { draft } = await partial('quote')
    const answer = await result(info().paymasterUrl, 'pm_getFeeQuoteOrData', [
      toInterfaceOperation(draft),
      sponsored,
    ])
    expect(answer.mode).toBe('SPONSORED')
    expect(answer.paymasterAndData.length).toBeGreaterThan(42)
  })
})
