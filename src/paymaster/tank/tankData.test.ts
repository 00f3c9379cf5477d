import fc from 'fast-check'
import { concatHex, encodePacked, type Hex, hashTypedData } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  address,
  operation,
  timeRange,
  uint,
} from '../../../test/support/tanks/arbitraryOperation.js'
import type { Version } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { sponsorshipHash } from './sponsorshipHash.js'
import { encodeLateTankData, encodeTankData, parseTankData } from './tankData.js'
import { stubSignature } from '../../gas/placeholder.js'

const signature = fc
  .uint8Array({ minLength: 65, maxLength: 65 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

const terms = fc.record({
  range: timeRange,
  tank: address,
  entryPoint: address,
  chainId: fc.integer({ min: 1, max: 2 ** 53 - 1 }),
})
type Terms = typeof terms extends fc.Arbitrary<infer T> ? T : never

/** The hash on an EntryPoint of `version`. */
function hashOn(version: Version, op: Operation, { tank, entryPoint, chainId, range }: Terms): Hex {
  return sponsorshipHash(
    { ...op, paymaster: tank },
    { version, address: entryPoint },
    chainId,
    range,
  )
}

describe('the data of a tank', () => {
  test('is parsed to what it was encoded from', () =>
    fc.assert(
      fc.property(timeRange, signature, (range, signed) => {
        const data = encodeTankData(range, signed)
        expect(parseTankData(data)).toEqual({ ...range, signature: signed })
      }),
    ))

  test('has the layout that the contracts read', () => {
    const range = { validUntil: 0x010203040506, validAfter: 0x0a0b0c0d0e0f }
    expect(encodeTankData(range, `0x${'5a'.repeat(65)}`)).toBe(
      `0x0102030405060a0b0c0d0e0f${'5a'.repeat(65)}`,
    )
  })

  test('of another length is none', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 160 }), (bytes) => {
        fc.pre(bytes.length !== 77)
        expect(parseTankData(`0x${Buffer.from(bytes).toString('hex')}`)).toBeUndefined()
      }),
    ))

  test.each([-1, 0.5, 2 ** 48, Number.NaN])('refuses the time %s', (validUntil) => {
    expect(() => encodeTankData({ validUntil, validAfter: 0 }, stubSignature)).toThrow(RangeError)
  })

  test('refuses a signature of another length', () => {
    expect(() => encodeTankData({ validUntil: 0, validAfter: 0 }, '0x1234')).toThrow('65 bytes')
  })
})

/** Fields that have 128 bits on v0.7 and later. */
const wide = fc.record({
  callGasLimit: uint(256),
  verificationGasLimit: uint(256),
  maxFeePerGas: uint(256),
  maxPriorityFeePerGas: uint(256),
})

const later = fc.constantFrom<Version>('0.7', '0.8', '0.9')

function bytes32Pair(high: bigint, low: bigint): Hex {
  return encodePacked(['uint128', 'uint128'], [high, low])
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

describe('the hash to sign', () => {
  test('is the EIP-712 hash of the sponsorship on v0.6', () =>
    fc.assert(
      fc.property(operation, wide, terms, (drawn, limits, bound) => {
        const op = { ...drawn, ...limits }
        expect(hashOn('0.6', op, bound)).toBe(
          hashTypedData({
            domain: domainOf(bound),
            primaryType: 'Sponsorship',
            types: {
              Sponsorship: [
                { name: 'entryPoint', type: 'address' },
                { name: 'sender', type: 'address' },
                { name: 'nonce', type: 'uint256' },
                { name: 'initCode', type: 'bytes' },
                { name: 'callData', type: 'bytes' },
                { name: 'callGasLimit', type: 'uint256' },
                { name: 'verificationGasLimit', type: 'uint256' },
                { name: 'preVerificationGas', type: 'uint256' },
                { name: 'maxFeePerGas', type: 'uint256' },
                { name: 'maxPriorityFeePerGas', type: 'uint256' },
                { name: 'validUntil', type: 'uint48' },
                { name: 'validAfter', type: 'uint48' },
              ],
            },
            message: { ...op, ...bound, ...bound.range, initCode: initCodeOf(op) },
          }),
        )
      }),
    ))

  test('is the EIP-712 hash of the sponsorship on v0.7 and later', () =>
    fc.assert(
      fc.property(operation, terms, later, fc.boolean(), (drawn, bound, version, isLate) => {
        const encode = isLate ? encodeLateTankData : encodeTankData
        const op = { ...drawn, paymasterData: encode(bound.range, stubSignature) }
        expect(hashOn(version, op, bound)).toBe(
          hashTypedData({
            domain: domainOf(bound),
            primaryType: 'Sponsorship',
            types: {
              Sponsorship: [
                { name: 'entryPoint', type: 'address' },
                { name: 'sender', type: 'address' },
                { name: 'nonce', type: 'uint256' },
                { name: 'initCode', type: 'bytes' },
                { name: 'callData', type: 'bytes' },
                { name: 'accountGasLimits', type: 'bytes32' },
                { name: 'preVerificationGas', type: 'uint256' },
                { name: 'gasFees', type: 'bytes32' },
                { name: 'paymasterGasLimits', type: 'bytes32' },
                { name: 'validUntil', type: 'uint48' },
                { name: 'validAfter', type: 'uint48' },
                { name: 'signatureSuffix', type: 'bytes10' },
              ],
            },
            message: {
              ...op,
              ...bound,
              ...bound.range,
              initCode: initCodeOf(op),
              accountGasLimits: bytes32Pair(op.verificationGasLimit, op.callGasLimit),
              gasFees: bytes32Pair(op.maxPriorityFeePerGas, op.maxFeePerGas),
              paymasterGasLimits: bytes32Pair(
                op.paymasterVerificationGasLimit,
                op.paymasterPostOpGasLimit,
              ),
              signatureSuffix: isLate ? '0x004122e325a297439656' : `0x${'00'.repeat(10)}`,
            },
          }),
        )
      }),
    ))

  test('does not depend on signatures or, on v0.6, paymaster data and paymaster limits', () =>
    fc.assert(
      fc.property(operation, operation, signature, terms, (drawn, other, signed, bound) => {
        const { paymasterVerificationGasLimit, paymasterPostOpGasLimit } = other
        const op = { ...drawn, paymasterData: encodeTankData(bound.range, stubSignature) }
        const paymasterData = encodeTankData(bound.range, signed)
        const same = { ...op, signature: other.signature, paymasterData }
        expect(hashOn('0.7', same, bound)).toBe(hashOn('0.7', op, bound))
        const limits = { paymasterVerificationGasLimit, paymasterPostOpGasLimit }
        expect(hashOn('0.6', { ...same, ...limits }, bound)).toBe(hashOn('0.6', op, bound))
      }),
    ))
})
