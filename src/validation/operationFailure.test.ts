import { describe, expect, test } from 'vitest'
import type { AaCode } from '../entrypoint/entryPoint.js'
import {
  PaymasterRejectedError,
  SignatureRejectedError,
  TimeRangeError,
  ValidationRejectedError,
} from '../errors/operationErrors.js'
import { requireTimeRange, toOperationError } from './operationFailure.js'

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
    expect(error.message).toBe(`${code ?? 'no code'} because`)
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

describe('requireTimeRange', () => {
  const now = 1000
  const op = { paymaster: undefined }

  test.each([
    [0, 0],
    [1000, 0],
    [0, 1030],
    [999, 5000],
  ])('valid after %i and until %i passes', (validAfter, validUntil) => {
    expect(() => requireTimeRange({ validAfter, validUntil }, op, now)).not.toThrow()
  })

  test.each([
    ['not yet valid', 1001, 0],
    ['expired', 0, 999],
    ['expiring within 30 s', 0, 1029],
  ])('%s is refused', (_, validAfter, validUntil) => {
    const check = () => requireTimeRange({ validAfter, validUntil }, op, now)
    expect(check).toThrow(TimeRangeError)
    expect(check).toThrow(/^AA22 expired or not due/)
  })

  test('a paymaster of the operation is named', () => {
    try {
      requireTimeRange({ validAfter: 0, validUntil: 1 }, { paymaster }, now)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: -32503, data: { validUntil: 1, paymaster } })
    }
  })
})
