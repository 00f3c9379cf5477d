import { expect } from 'vitest'
import type { ServiceCall } from './memoryServices.js'

const hash = /^0x[0-9a-f]{64}$/
const address = /^0x[0-9a-f]{40}$/
const bytes = /^0x(?:[0-9a-f]{2})*$/
const maxUint120 = 2n ** 120n - 1n

/** Fails when a service was called with anything that a decoder should have refused or turned. */
export function expectDecoded({ name, arguments: given }: ServiceCall): void {
  const [first, second, third] = given as [unknown, unknown, unknown]
  switch (name) {
    case 'admit':
      expectOperation(second, false)
      break
    case 'estimate':
      expectOperation(second, true)
      expectOverride((third as { readonly override: unknown }).override)
      break
    case 'assets':
      expectOperation(second, true)
      expect(third).toMatchObject({ appId: expect.any(String) })
      break
    case 'balanceChanges':
      expect(first).toMatch(address)
      break
    case 'sponsor':
    case 'previewSponsorship':
    case 'stub':
      expectOperation((first as { draft: unknown }).draft, true)
      expect(() => JSON.stringify((first as { webhookData: unknown }).webhookData)).not.toThrow()
      break
    case 'tokens.quote':
    case 'tokens.pay':
    case 'tokens.stub': {
      const {
        draft,
        token,
        tokens = [],
      } = first as {
        readonly draft: unknown
        readonly token?: string
        readonly tokens?: readonly string[]
      }
      expectOperation(draft, true)
      for (const each of token === undefined ? tokens : [token]) expect(each).toMatch(address)
      break
    }
    case 'tokens.rates':
      for (const each of (first as { readonly tokens: readonly string[] }).tokens)
        expect(each).toMatch(address)
      break
    case 'reads':
      expectForwarded(second, third)
      break
    case 'tanks':
      expect(first).toBeTypeOf('string')
      break
    case 'status':
    case 'receipt':
    case 'preconfirmed':
    case 'byHash':
      expect(first).toMatch(hash)
      break
    case 'tokens.list':
      expect(first).toMatchObject({ appId: expect.any(String) })
      break
    case 'webhooks.create':
      expect(second).toEqual({
        webhookUrl: expect.stringMatching(/^https?:\/\/[^\s]+$/),
        requestType: expect.stringMatching(/^(?:GET|POST)$/),
      })
      break
    case 'webhooks.update':
      expect(third).toBeTypeOf('boolean')
      expect(second).toBeTypeOf('string')
      break
    case 'webhooks.get':
    case 'webhooks.delete':
      expect(second).toBeTypeOf('string')
      break
    default:
      // The app's, which pays nothing where its operations are granted.
      expect([name, given]).toEqual(['fees', [expect.any(String)]])
  }
}

/** What goes to the node holds hex, tags and flags only, and few members. */
function expectForwarded(method: unknown, params: unknown): void {
  expect(method).toMatch(/^eth_/)
  const text = JSON.stringify(params)
  expect(text).not.toMatch(/__proto__|constructor/)
  const [first] = params as [Record<string, unknown>]
  if (method === 'eth_call') {
    expect(first.gas).toMatch(/^0x[0-9a-f]+$/)
    expect(BigInt(first.gas as string) <= 16_777_216n).toBe(true)
    expect(first.data).toMatch(bytes)
  }
  if (method === 'eth_getLogs' && first.blockHash === undefined) {
    const [from, to] = [BigInt(first.fromBlock as string), BigInt(first.toBlock as string)]
    expect(to - from < 100n).toBe(true)
  }
}

function expectOperation(value: unknown, isDraft: boolean): void {
  const op = value as Record<string, unknown>
  expect(op.sender).toMatch(address)
  expect(op.nonce).toBeTypeOf('bigint')
  for (const name of ['factoryData', 'callData', 'paymasterData', 'signature'])
    expect(op[name]).toMatch(bytes)
  for (const name of ['factory', 'paymaster'])
    if (op[name] !== undefined) expect(op[name]).toMatch(address)
  for (const name of gasFields) {
    if (isDraft && op[name] === undefined) continue
    expect(op[name]).toBeTypeOf('bigint')
    expect((op[name] as bigint) >= 0n && (op[name] as bigint) <= maxUint120).toBe(true)
  }
}

const gasFields = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'paymasterVerificationGasLimit',
  'paymasterPostOpGasLimit',
]

function expectOverride(value: unknown): void {
  if (value === undefined) return
  for (const [account, override] of Object.entries(value as object)) {
    expect(account).toMatch(address)
    for (const name of ['state', 'stateDiff'])
      for (const slot of Object.entries(override[name] ?? {}).flat()) expect(slot).toMatch(hash)
    for (const name of ['balance', 'nonce'])
      if (override[name] !== undefined)
        expect(override[name]).toMatch(/^0x(?:0|[1-9a-f][0-9a-f]*)$/)
  }
}
