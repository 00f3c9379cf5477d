import fc from 'fast-check'
import { concatHex, encodePacked, type Hex, hashTypedData, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { address, operation } from '../../test/support/tanks/arbitraryOperation.js'
import { permitFor, quote, signature } from '../../test/support/tanks/arbitraryQuote.js'
import type { Version } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { stubSignature } from '../gas/placeholder.js'
import {
  encodeTokenData,
  type Permit,
  parseTokenData,
  type TokenQuote,
  tokenPaymentHash,
} from './tokenData.js'

const plain: TokenQuote = {
  mode: 'prefund',
  token: zeroAddress,
  rate: 1n,
  markup: 1_000_000,
  postOpGas: 30_000n,
  treasury: zeroAddress,
  validUntil: 0,
  validAfter: 0,
}

const data = quote.chain((terms) =>
  fc.record({ quote: fc.constant(terms), signature, permit: permitFor(terms) }),
)

describe('the data of a token tank', () => {
  test('is parsed to what it was encoded from', () =>
    fc.assert(
      fc.property(data, (given) => {
        expect(parseTokenData(encodeTokenData(given))).toEqual(given)
      }),
    ))

  test('has the layout that the contracts read', () => {
    const encoded = encodeTokenData({
      quote: {
        mode: 'permit',
        token: `0x${'a1'.repeat(20)}`,
        rate: 0xb2n,
        markup: 0xc3c3c3c3,
        postOpGas: 0xd4d4n,
        treasury: `0x${'e5'.repeat(20)}`,
        validUntil: 0x010203040506,
        validAfter: 0x0a0b0c0d0e0f,
      },
      signature: `0x${'5a'.repeat(65)}`,
      permit: { value: 0xf6n, deadline: 0xf7n, signature: `0x${'8b'.repeat(65)}` },
    })
    const expected = [
      '02',
      'a1'.repeat(20),
      'b2'.padStart(64, '0'),
      'c3c3c3c3',
      '0000d4d4',
      'e5'.repeat(20),
      '0102030405060a0b0c0d0e0f',
      '5a'.repeat(65),
      'f6'.padStart(64, '0'),
      'f7'.padStart(64, '0'),
      '8b'.repeat(65),
    ]
    expect(encoded).toBe(`0x${expected.join('')}`)
  })

  test('of another length or mode is none', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 255 }), (bytes, mode) => {
        const hex = `0x${Buffer.from([mode, ...bytes]).toString('hex')}` as const
        fc.pre(mode > 2 || bytes.length + 1 !== (mode === 2 ? 287 : 158))
        expect(parseTokenData(hex)).toBeUndefined()
      }),
    ))

  test.each([
    ['rate', { rate: 2n ** 256n }],
    ['rate', { rate: -1n }],
    ['markup', { markup: 2 ** 32 }],
    ['postOpGas', { postOpGas: 2n ** 32n }],
    ['time', { validUntil: 2 ** 48 }],
  ])('refuses a %s that does not fit', (name, change) => {
    const terms = { ...plain, ...change }
    const encode = () =>
      encodeTokenData({ quote: terms, signature: stubSignature, permit: undefined })
    expect(encode).toThrow(RangeError)
    expect(encode).toThrow(name)
  })

  test('has a permit in mode permit and in no other', () => {
    const permit = { value: 1n, deadline: 1n, signature: stubSignature }
    const signed = { signature: stubSignature }
    expect(() => encodeTokenData({ quote: plain, ...signed, permit })).toThrow(RangeError)
    const terms = { ...plain, mode: 'permit' as const }
    expect(() => encodeTokenData({ quote: terms, ...signed, permit: undefined })).toThrow(
      RangeError,
    )
    const short = { ...permit, signature: '0x12' as const }
    expect(() => encodeTokenData({ quote: terms, ...signed, permit: short })).toThrow('65 bytes')
  })
})

const terms = quote.chain((quoted) =>
  fc.record({
    quote: fc.constant(quoted),
    permit: permitFor(quoted),
    tank: address,
    entryPoint: address,
    chainId: fc.integer({ min: 1, max: 2 ** 53 - 1 }),
  }),
)
type Terms = typeof terms extends fc.Arbitrary<infer T> ? T : never

function hashOn(
  version: Version,
  op: Operation,
  { tank, entryPoint, chainId, quote, permit }: Terms,
) {
  return tokenPaymentHash({ ...op, paymaster: tank }, { version, address: entryPoint }, chainId, {
    quote,
    permit,
  })
}

function domainOf({ chainId, tank }: Terms) {
  return {
    name: 'Purser Tank',
    version: '1',
    chainId,
    verifyingContract: tank,
  }
}

function initCodeOf({ factory, factoryData }: Operation): Hex {
  return factory ? concatHex([factory, factoryData]) : '0x'
}

const modeNumber = { prefund: 0, afterwards: 1, permit: 2 }

const begin = [
  { name: 'entryPoint', type: 'address' },
  { name: 'sender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'initCode', type: 'bytes' },
  { name: 'callData', type: 'bytes' },
] as const

const end = [
  { name: 'mode', type: 'uint8' },
  { name: 'token', type: 'address' },
  { name: 'rate', type: 'uint256' },
  { name: 'markup', type: 'uint32' },
  { name: 'postOpGas', type: 'uint32' },
  { name: 'treasury', type: 'address' },
  { name: 'validUntil', type: 'uint48' },
  { name: 'validAfter', type: 'uint48' },
  { name: 'permit', type: 'bytes' },
] as const

function messageOf(op: Operation, bound: Terms) {
  return {
    ...op,
    ...bound,
    ...bound.quote,
    mode: modeNumber[bound.quote.mode],
    postOpGas: Number(bound.quote.postOpGas),
    initCode: initCodeOf(op),
    permit: permitBytes(bound.permit),
  }
}

function permitBytes(permit: Permit | undefined): Hex {
  if (permit === undefined) return '0x'
  const { value, deadline } = permit
  return concatHex([encodePacked(['uint256', 'uint256'], [value, deadline]), permit.signature])
}

describe('the hash to sign', () => {
  test('is the EIP-712 hash of the payment on v0.6', () =>
    fc.assert(
      fc.property(operation, terms, (op, bound) => {
        expect(hashOn('0.6', op, bound)).toBe(
          hashTypedData({
            domain: domainOf(bound),
            primaryType: 'TokenPayment',
            types: {
              TokenPayment: [
                ...begin,
                { name: 'callGasLimit', type: 'uint256' },
                { name: 'verificationGasLimit', type: 'uint256' },
                { name: 'preVerificationGas', type: 'uint256' },
                { name: 'maxFeePerGas', type: 'uint256' },
                { name: 'maxPriorityFeePerGas', type: 'uint256' },
                ...end,
              ],
            },
            message: messageOf(op, bound),
          }),
        )
      }),
    ))

  test('is the EIP-712 hash of the payment on v0.7 and later', () =>
    fc.assert(
      fc.property(
        operation,
        terms,
        fc.constantFrom<Version>('0.7', '0.8', '0.9'),
        (op, bound, version) => {
          const pair = (high: bigint, low: bigint) =>
            encodePacked(['uint128', 'uint128'], [high, low])
          expect(hashOn(version, op, bound)).toBe(
            hashTypedData({
              domain: domainOf(bound),
              primaryType: 'TokenPayment',
              types: {
                TokenPayment: [
                  ...begin,
                  { name: 'accountGasLimits', type: 'bytes32' },
                  { name: 'preVerificationGas', type: 'uint256' },
                  { name: 'gasFees', type: 'bytes32' },
                  { name: 'paymasterGasLimits', type: 'bytes32' },
                  ...end,
                ],
              },
              message: {
                ...messageOf(op, bound),
                accountGasLimits: pair(op.verificationGasLimit, op.callGasLimit),
                gasFees: pair(op.maxPriorityFeePerGas, op.maxFeePerGas),
                paymasterGasLimits: pair(
                  op.paymasterVerificationGasLimit,
                  op.paymasterPostOpGasLimit,
                ),
              },
            }),
          )
        },
      ),
    ))
})
