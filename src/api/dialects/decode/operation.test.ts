import fc from 'fast-check'
import type { Hex } from 'viem'
import { getUserOperationHash, type UserOperation } from 'viem/account-abstraction'
import { describe, expect, test } from 'vitest'
import {
  entryPointNamed,
  rpcOperation06,
  rpcOperation07,
} from '../../../../test/support/http/apiFixtures.js'
import {
  arbitraryDelegatedOperation,
  arbitraryOperation,
} from '../../../../test/support/operations/arbitraryOperation.js'
import { PurserError } from '../../../base/errors/purserError.js'
import type { Version } from '../../../erc4337/entryPoint.js'
import type { Operation } from '../../../erc4337/operation.js'
import { encodeOperation } from '../operationFields.js'
import { decodeDraft, decodeOperation, decodePartialOperation, isUnpacked } from './operation.js'

function decode06(changes: object) {
  return decodeOperation({ ...rpcOperation06, ...changes }, 'params[0]', '0.6')
}
function decode07(changes: object, version: Version = '0.7') {
  return decodeOperation({ ...rpcOperation07, ...changes }, 'params[0]', version)
}

function operationOf(version: Version): fc.Arbitrary<Operation> {
  return version === '0.6' || version === '0.7'
    ? arbitraryOperation(version)
    : fc.oneof(arbitraryOperation(version), arbitraryDelegatedOperation)
}

describe.each(['0.6', '0.7', '0.8', '0.9'] as const)('EntryPoint v%s', (version) => {
  test('an operation survives encoding and decoding', () => {
    fc.assert(
      fc.property(operationOf(version), (op) => {
        const json = JSON.parse(JSON.stringify(encodeOperation(op, version)))
        expect(decodeOperation(json, 'params[0]', version)).toEqual(op)
      }),
    )
  })

  test('any JSON, also with the right names, is decoded or refused by one of our errors', () => {
    const names = Object.keys({ ...rpcOperation06, ...rpcOperation07, eip7702Auth: 0 })
    const hostile = fc.oneof(fc.jsonValue(), fc.constantFrom('0x', '0x1', '-1', null, {}, []))
    const valid = version === '0.6' ? rpcOperation06 : rpcOperation07
    const changes = fc.dictionary(fc.constantFrom(...names), hostile, { maxKeys: 4 })
    const anything = fc.oneof(
      fc.jsonValue(),
      changes.map((changed) => ({ ...valid, ...changed })),
    )
    fc.assert(
      fc.property(anything, (value) => {
        for (const decode of [decodeOperation, decodeDraft, decodePartialOperation])
          try {
            expect(decode(value, 'params[0]', version).sender).toMatch(/^0x[0-9a-f]{40}$/)
          } catch (error) {
            expect(error).toBeInstanceOf(PurserError)
            expect((error as PurserError).data?.field).toMatch(/^params\[0\]/)
          }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a v0.6 operation', () => {
  test('splits initCode and paymasterAndData after the address', () => {
    const op = decode06({
      initCode: `0x${'AA'.repeat(20)}1234`,
      paymasterAndData: `0x${'bb'.repeat(20)}`,
    })
    expect(op).toMatchObject({
      factory: `0x${'aa'.repeat(20)}`,
      factoryData: '0x1234',
      paymaster: `0x${'bb'.repeat(20)}`,
      paymasterData: '0x',
    })
  })

  test.each([[undefined], ['0x']])('has no paymaster with paymasterAndData %s', (value) => {
    expect(decode06({ paymasterAndData: value, initCode: value })).toMatchObject({
      paymaster: undefined,
      factory: undefined,
    })
  })

  test.each([
    ['sender', undefined],
    ['nonce', undefined],
    ['callData', undefined],
    ['signature', undefined],
    ['callGasLimit', undefined],
    ['verificationGasLimit', '0x'],
    ['preVerificationGas', null],
    ['maxFeePerGas', undefined],
    ['maxPriorityFeePerGas', undefined],
  ])('needs %s', (name, value) => {
    expect(() => decode06({ [name]: value })).toThrow(`params[0].${name}: is missing.`)
  })

  test.each([
    ['sender', '0x12', 'must be an address'],
    ['nonce', '1.5', 'must be a quantity'],
    ['initCode', `0x${'ab'.repeat(19)}`, 'must be 0x or start with a 20-byte address'],
    ['paymasterAndData', '0xab', 'must be 0x or start with a 20-byte address'],
    ['initCode', null, 'must be a hex string'],
    ['paymasterAndData', null, 'must be a hex string'],
    ['callData', '0xabc', 'odd number of digits'],
    ['callData', `0x${'00'.repeat(131_073)}`, 'is longer than 131072 bytes'],
    ['signature', 'none', 'must be a hex string'],
    ['maxFeePerGas', (2n ** 120n).toString(), 'AA94'],
    ['factory', `0x${'1'.repeat(40)}`, 'does not exist in EntryPoint v0.6'],
    ['paymasterVerificationGasLimit', '0x1', 'does not exist in EntryPoint v0.6'],
    ['eip7702Auth', {}, ''],
  ])('refuses %s of %s', (name, value, reason) => {
    expect(() => decode06({ [name]: value })).toThrow(
      new RegExp(`^params\\[0\\]\\.${name}.*${reason.replaceAll('.', '\\.')}`),
    )
  })

  test('tolerates the empty fields of later versions', () => {
    const empty = { factory: null, paymasterData: '0x', paymasterPostOpGasLimit: '0x0' }
    expect(decode06(empty)).toEqual(decode06({}))
  })

  test('does not read fields from a prototype', () => {
    const text = JSON.stringify(rpcOperation06).replace('"sender"', '"__proto__":{"sender":1},"x"')
    expect(() => decodeOperation(JSON.parse(text), 'params[0]', '0.6')).toThrow(
      'params[0].sender: is missing.',
    )
  })
})

describe('an operation of v0.7 and later', () => {
  test('takes its fields as they are', () => {
    expect(decode07({})).toMatchObject({
      nonce: 2n ** 64n,
      factory: rpcOperation07.factory.toLowerCase(),
      factoryData: '0x5fbfb9cf',
      paymasterVerificationGasLimit: 30_000n,
      paymasterPostOpGasLimit: 0n,
      paymasterData: '0xabcd',
    })
  })

  test.each([
    [{ factoryData: undefined }, 'params[0].factoryData: is missing: a factory needs it.'],
    [{ factory: undefined }, 'params[0].factoryData: needs a factory'],
    [{ paymaster: undefined }, 'params[0].paymasterData: needs a paymaster'],
    [
      { paymaster: undefined, paymasterData: undefined },
      'params[0].paymasterVerificationGasLimit: needs a paymaster',
    ],
    [{ initCode: '0x12' }, 'params[0].initCode: does not exist in EntryPoint v0.7'],
    [{ paymasterSignature: '0xab' }, 'params[0].paymasterSignature: needs EntryPoint v0.9'],
  ])('refuses %o', (changes, message) => {
    expect(() => decode07(changes)).toThrow(message)
  })

  test.each([
    [{ paymasterPostOpGasLimit: undefined }],
    [{ paymasterPostOpGasLimit: null }],
    [{ paymasterPostOpGasLimit: '0x' }],
    [{ paymasterVerificationGasLimit: undefined }],
  ])('takes a limit of its paymaster that is not there as 0: %o', (changes) => {
    const [name] = Object.keys(changes) as [string]
    expect(decode07(changes)).toEqual(decode07({ [name]: '0x0' }))
  })

  test('tolerates null for an entity that there is not', () => {
    const { factory: _, factoryData: __, ...bare } = rpcOperation07
    expect(decode07({ factory: null, factoryData: null })).toEqual(
      decodeOperation(bare, 'params[0]', '0.7'),
    )
  })

  test('tolerates the empty fields of v0.6', () => {
    expect(decode07({ initCode: '0x', paymasterAndData: '0x' })).toEqual(decode07({}))
  })

  test.each([['0x7702'], [`0x7702${'0'.repeat(36)}`]])(
    'knows the EIP-7702 marker %s',
    (factory) => {
      const op = decode07({ factory, factoryData: undefined }, '0.8')
      expect(op).toMatchObject({ factory: `0x7702${'0'.repeat(36)}`, factoryData: '0x' })
    },
  )

  test('v0.9 carries the paymaster signature as viem does: outside the hash', () => {
    const entryPoint = entryPointNamed('0.9')
    const hashWith = (paymasterSignature: Hex) =>
      entryPoint.hash(decode07({ paymasterSignature }, '0.9'), 31_337)
    const signed = { ...decode07({}, '0.9'), paymasterSignature: '0x010203' as const }
    expect(decode07({ paymasterSignature: '0x010203' }, '0.9').paymasterData).toBe(
      '0xabcd010203000322e325a297439656',
    )
    expect(hashWith('0x010203')).toBe(hashWith('0xff'))
    expect(hashWith('0x010203')).toBe(
      getUserOperationHash({
        chainId: 31_337,
        entryPointAddress: entryPoint.address,
        entryPointVersion: '0.9',
        userOperation: signed as UserOperation<'0.9'>,
      }),
    )
  })

  test('decodes an EIP-7702 authorization', () => {
    const eip7702Auth = {
      chainId: '0x7a69',
      address: `0x${'C'.repeat(40)}`,
      nonce: '0x1',
      yParity: `0x${'0'.repeat(63)}1`,
      r: '0x01',
      s: `0x${'2'.repeat(64)}`,
    }
    expect(decode07({ eip7702Auth }, '0.8').authorization).toEqual({
      chainId: 31_337,
      address: `0x${'c'.repeat(40)}`,
      nonce: 1n,
      yParity: 1,
      r: `0x${'0'.repeat(63)}1`,
      s: `0x${'2'.repeat(64)}`,
    })
    expect(() => decode07({ eip7702Auth: { ...eip7702Auth, yParity: 2 } }, '0.8')).toThrow(
      'params[0].eip7702Auth.yParity: must be from 0 to 1',
    )
  })
})

describe('a draft', () => {
  test('leaves gas limits that are zero or missing unset, and keeps a zero fee', () => {
    const { callGasLimit: _, ...partial } = rpcOperation06
    const draft = decodeDraft(
      { ...partial, verificationGasLimit: '0x0', maxFeePerGas: undefined },
      'params[0]',
      '0.6',
    )
    expect(draft).toMatchObject({
      callGasLimit: undefined,
      verificationGasLimit: undefined,
      preVerificationGas: 900_000n,
      maxFeePerGas: undefined,
      maxPriorityFeePerGas: 0n,
    })
  })

  test('may lack its signature, for which a dummy stands', () => {
    for (const signature of [undefined, null, '0x'])
      expect(decodeDraft({ ...rpcOperation06, signature }, 'params[0]', '0.6').signature).toBe('0x')
  })
})

describe('a partial operation', () => {
  test('needs no signature and drops the paymaster of an older quote', () => {
    const old = { signature: undefined, paymasterAndData: `0x${'11'.repeat(100)}` }
    expect(decodePartialOperation({ ...rpcOperation06, ...old }, 'params[0]', '0.6')).toMatchObject(
      {
        signature: '0x',
        paymaster: undefined,
        paymasterData: '0x',
      },
    )
  })

  test('keeps the gas limits that were estimated for the paymaster', () => {
    const draft = decodePartialOperation(rpcOperation07, 'params[0]', '0.7')
    expect(draft).toMatchObject({ paymaster: undefined, paymasterVerificationGasLimit: 30_000n })
  })
})

test('the shape tells v0.6 from later versions', () => {
  expect(isUnpacked(rpcOperation06)).toBe(false)
  expect(isUnpacked(rpcOperation07)).toBe(true)
  expect(isUnpacked({ ...rpcOperation06, factory: null })).toBe(false)
  for (const value of [null, undefined, 5, 'x', []]) expect(isUnpacked(value)).toBe(false)
})
