import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import { OperationEndedError, OperationTimeoutError } from '../../base/errors/operationErrors.js'
import { PurserError } from '../../base/errors/purserError.js'
import { InvalidParamsError } from '../../base/errors/requestErrors.js'
import { toRefusal } from './toRefusal.js'

const identity = { keyId: 'key', appId: 'app', accountId: 'account' }
const sender = `0x${'Ab'.repeat(20)}`
const entryPoint = `0x${'cd'.repeat(20)}`
const refused = {
  name: 'eth_sendUserOperation',
  params: [{ sender, nonce: '0x10' }, entryPoint],
  error: new PurserError('AA24 signature error', { code: -32_507, status: 400, rule: 'AA24' }),
  chainId: 5,
  identity,
  requestId: 'request',
} as const

test('a refusal has what was asked and what was answered', () => {
  expect(toRefusal(refused)).toMatchObject({
    app_id: 'app',
    account_id: 'account',
    key_id: 'key',
    chain_id: 5n,
    method: 'eth_sendUserOperation',
    entry_point: entryPoint,
    sender: sender.toLowerCase(),
    nonce: 16n,
    code: -32_507,
    rule: 'AA24',
    message: 'AA24 signature error',
    request: JSON.stringify(refused.params),
    request_id: 'request',
  })
})

test('calls about no operation and calls that came too often are not recorded', () => {
  expect(toRefusal({ ...refused, name: 'eth_chainId', params: [] })).toBeUndefined()
  const error = new RateLimitError('key', 1)
  expect(toRefusal({ ...refused, error })).toBeUndefined()
})

test('an operation that was accepted is not recorded as refused when its sender waited without success', () => {
  const hash = `0x${'ab'.repeat(32)}` as const
  const late = new OperationTimeoutError(hash, 'SUBMITTED', 'it was not included in time')
  const reason = { state: 'FAILED', reason: 'it reverted', rule: 'BUNDLE_FAILED' }
  for (const error of [late, new OperationEndedError(hash, reason)])
    expect(toRefusal({ ...refused, name: 'eth_sendUserOperationSync', error })).toBeUndefined()
})

test('parameters of any shape give rows that fit the table', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 4 })), fc.string(), (params, text) => {
      const error = new InvalidParamsError('operation', `is ${text}`)
      const row = toRefusal({ ...refused, params, error })
      expect(row?.message).not.toContain('\0')
      expect(row?.request?.length ?? 0).toBeLessThanOrEqual(16_384)
      if (row?.nonce != null) expect(row.nonce).toBeLessThan(2n ** 256n)
    }),
  )
  const long = toRefusal({ ...refused, params: [{ sender, callData: 'f'.repeat(20_000) }] })
  expect(long).toMatchObject({ sender: sender.toLowerCase(), request: null })
})

test('the data of the answer is JSON that the database can take apart, and else as it was', () => {
  const field = 'params[1].a\u0000\u0000b\ud800c\\u0000\\\udfff\u{1f600}'
  const row = toRefusal({ ...refused, error: new InvalidParamsError(field, 'is unknown.') })
  expect(JSON.parse(row?.data ?? '')).toEqual({
    field: 'params[1].a\ufffd\ufffdb\ufffdc\\u0000\\\ufffd\u{1f600}',
  })
})
