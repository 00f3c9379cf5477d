import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'
import type { TimeRange } from '../../../src/erc4337/validationData.js'

function hex(array: Uint8Array): Hex {
  return `0x${Buffer.from(array).toString('hex')}`
}

export const bytes: fc.Arbitrary<Hex> = fc.uint8Array({ maxLength: 100 }).map(hex)

/** Not zero, and no EIP-7702 marker. */
export const address: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map(hex)
  .filter((value) => BigInt(value) !== 0n && !value.startsWith('0x7702'))

export function uint(bits: number): fc.Arbitrary<bigint> {
  return fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
}

export const timeRange: fc.Arbitrary<TimeRange> = fc.record({
  validUntil: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  validAfter: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
})

/** An operation whose fields fit every EntryPoint version; its paymaster is for the test to set. */
export const operation: fc.Arbitrary<Operation> = fc
  .record({
    sender: address,
    nonce: uint(256),
    factory: fc.option(address, { nil: undefined }),
    factoryData: bytes,
    callData: bytes,
    callGasLimit: uint(128),
    verificationGasLimit: uint(128),
    preVerificationGas: uint(256),
    maxFeePerGas: uint(128),
    maxPriorityFeePerGas: uint(128),
    paymasterVerificationGasLimit: uint(128),
    paymasterPostOpGasLimit: uint(128),
    signature: bytes,
  })
  .map((fields) => ({
    ...fields,
    factoryData: fields.factory ? fields.factoryData : '0x',
    paymaster: undefined,
    paymasterData: '0x',
    authorization: undefined,
  }))
