import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import type { Authorization, Operation } from '../../../src/erc4337/operation.js'

function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function bytes(minLength: number, maxLength: number): fc.Arbitrary<Hex> {
  return fc.uint8Array({ minLength, maxLength }).map(hex)
}

export function arbitraryBytes(maxLength = 300): fc.Arbitrary<Hex> {
  return fc.oneof(fc.constant<Hex>('0x'), bytes(1, maxLength))
}

export const arbitraryAddress: fc.Arbitrary<Address> = bytes(20, 20)

const gas = fc.bigInt({ min: 0n, max: 2n ** 120n - 1n })

const authorization: fc.Arbitrary<Authorization> = fc.record({
  chainId: fc.integer({ min: 0, max: 2 ** 31 }),
  address: arbitraryAddress,
  nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  yParity: fc.constantFrom(0 as const, 1 as const),
  r: bytes(32, 32),
  s: bytes(32, 32),
})

const common = {
  sender: arbitraryAddress,
  nonce: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  callData: arbitraryBytes(),
  callGasLimit: gas,
  verificationGasLimit: gas,
  preVerificationGas: gas,
  maxFeePerGas: gas,
  maxPriorityFeePerGas: gas,
  signature: arbitraryBytes(),
}

const noFactory = fc.constant({ factory: undefined, factoryData: '0x' as Hex })
const withFactory = fc.record({ factory: arbitraryAddress, factoryData: arbitraryBytes() })

const noPaymaster = fc.constant({
  paymaster: undefined,
  paymasterData: '0x' as Hex,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
})

function withPaymaster(limit: fc.Arbitrary<bigint>) {
  return fc.record({
    paymaster: arbitraryAddress,
    paymasterData: arbitraryBytes(),
    paymasterVerificationGasLimit: limit,
    paymasterPostOpGasLimit: limit,
  })
}

/** Operations in the form that decoding gives back: no data without its entity. */
export function arbitraryOperation(version: Version): fc.Arbitrary<Operation> {
  return fc
    .tuple(
      fc.record(common),
      fc.oneof(noFactory, withFactory),
      fc.oneof(noPaymaster, withPaymaster(version === '0.6' ? fc.constant(0n) : gas)),
    )
    .map(([fields, factory, paymaster]) => ({
      ...fields,
      ...factory,
      ...paymaster,
      authorization: undefined,
    }))
}

/** Operations of EIP-7702 senders, with their authorization. */
export const arbitraryDelegatedOperation: fc.Arbitrary<Operation> = fc
  .tuple(arbitraryOperation('0.8'), arbitraryBytes(), authorization)
  .map(([op, factoryData, signed]) => ({
    ...op,
    factory: `0x7702${'0'.repeat(36)}`,
    factoryData,
    authorization: signed,
  }))
