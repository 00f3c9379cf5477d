import { describe, expect, test } from 'vitest'
import {
  PaymasterRejectedError,
  SignatureRejectedError,
  TimeRangeError,
  ValidationRejectedError,
} from '../base/errors/operationErrors.js'
import type { AaCode } from '../erc4337/entryPoint.js'
import { requireValidity, toOperationError } from './operationFailure.js'

const paymaster = '0x00000000000000000000000000000000000000aa'
function failure(code: AaCode | undefined) {
  return {
    index: 0,
    code,
    message: `${code ?? 'no code'} because`,
    revertData: '0x12' as const,
  }
}

describe('toOperationError', () => {
  test.each([
    ['AA10', ValidationRejectedError, -32500],
    ['AA13', ValidationRejectedError, -32500],
    ['AA20', ValidationRejectedError, -32500],
    ['AA21', ValidationRejectedError, -32500],
    ['AA22', TimeRangeError, -32503],
    ['AA23', ValidationRejectedError, -32500],
    ['AA24', SignatureRejectedError, -32507],
    ['AA25', ValidationRejectedError, -32500],
    ['AA30', PaymasterRejectedError, -32501],
    ['AA31', PaymasterRejectedError, -32501],
    ['AA32', TimeRangeError, -32503],
    ['AA33', PaymasterRejectedError, -32501],
    ['AA34', SignatureRejectedError, -32507],
    ['AA40', ValidationRejectedError, -32500],
    ['AA41', ValidationRejectedError, -32500],
    ['AA50', PaymasterRejectedError, -32501],
    ['AA51', ValidationRejectedError, -32500],
    ['AA94', ValidationRejectedError, -32500],
    [undefined, ValidationRejectedError, -32500],
  ] as const)('%s keeps its text and gets its class and code', (code, type, rpcCode) => {
    const error = toOperationError(failure(code), { paymaster })
    expect(error).toBeInstanceOf(type)
    expect(error.code).toBe(rpcCode)
    const inOtherWords =
      type === SignatureRejectedError ? ' (Invalid UserOp signature or paymaster signature)' : ''
    expect(error.message).toBe(`${code ?? 'no code'} because${inOtherWords}`)
    if (type === PaymasterRejectedError || code === 'AA32') {
      expect(error.data).toMatchObject({ paymaster })
    } else {
      expect(error.data ?? {}).not.toHaveProperty('paymaster')
    }
  })

  test('a paymaster failure of an operation without paymaster blames nobody else', () => {
    const error = toOperationError(failure('AA33'), { paymaster: undefined })
    expect(error).toBeInstanceOf(ValidationRejectedError)
  })

  test('a time range error tells the range that is known', () => {
    const range = { validAfter: 5, validUntil: 9 }
    expect(toOperationError(failure('AA22'), { paymaster: undefined }, range).data).toEqual(range)
  })
})

describe('requireValidity', () => {
  const next = { number: 11n, timestamp: 1_000 }
  const last = { number: 14n, timestamp: 1_030 }
  const op = { paymaster: undefined }
  const always = { after: 0n, until: 0n }
  const require = (validAfter: number, validUntil: number, blocks = always, of = op) =>
    requireValidity({ validAfter, validUntil, blocks }, of, next, last)

  test.each([
    [0, 0],
    [1000, 0],
    [0, 1030],
    [999, 5000],
  ])('valid after %i and until %i passes', (validAfter, validUntil) => {
    expect(() => require(validAfter, validUntil)).not.toThrow()
  })

  test.each([
    ['not yet valid', 1001, 0],
    ['expired', 0, 999],
    ['ending before its last block', 0, 1029],
  ])('%s is refused', (_, validAfter, validUntil) => {
    const check = () => require(validAfter, validUntil)
    expect(check).toThrow(TimeRangeError)
    expect(check).toThrow(/^AA22 expired or not due/)
  })

  test.each([
    [0n, 14n],
    [10n, 5_000n],
  ])('valid after block %i and until block %i passes', (after, until) => {
    expect(() => require(0, 0, { after, until })).not.toThrow()
  })

  test.each([
    ['not valid in the next block', 11n, 5_000n],
    ['ending at the head', 0n, 10n],
    ['ending before its last block', 0n, 13n],
  ])('a range of blocks %s is refused', (_, after, until) => {
    const check = () => require(0, 0, { after, until })
    expect(check).toThrow(TimeRangeError)
    expect(check).toThrow(/^AA27 outside valid block range/)
  })

  test('a paymaster of the operation is named', () => {
    try {
      requireValidity({ validAfter: 0, validUntil: 1, blocks: always }, { paymaster }, next, last)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: -32503, data: { validUntil: 1, paymaster } })
    }
  })
})
