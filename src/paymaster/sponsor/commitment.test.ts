import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { GasEstimate } from '../../gas/estimateOperation.js'
import { encodeLateTankData, encodeTankData } from '../tank/tankData.js'
import { stubSignature } from '../../gas/placeholder.js'
import { checkCommittedGas, readCommitment } from './commitment.js'

const range = { validAfter: 0, validUntil: 1_000 }
const stub = {
  paymaster: `0x${'7a'.repeat(20)}` as const,
  paymasterVerificationGasLimit: 30_000n,
  paymasterPostOpGasLimit: 1n,
  paymasterData: encodeLateTankData(range, stubSignature),
}
const bounds = { earliest: 900, latest: 1_100 }
function refusalOf(changes: Partial<typeof stub>) {
  const read = readCommitment({ ...stub, ...changes }, stub, bounds)
  return 'refusal' in read ? read.refusal : undefined
}

describe('readCommitment', () => {
  test('gives the times that the account signs, whatever signature stands there', () => {
    const signature: Hex = `0x${'ab'.repeat(65)}`
    const op = { ...stub, paymasterData: encodeLateTankData(range, signature) }
    expect(readCommitment(op, stub, bounds)).toEqual({ range })
  })

  test('takes exactly the ends that lie within the bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000 }), (validUntil) => {
        const paymasterData = encodeLateTankData({ validAfter: 0, validUntil }, stubSignature)
        const fits = validUntil >= 900 && validUntil <= 1_100
        const code = refusalOf({ paymasterData })?.code
        expect(code).toBe(fits ? undefined : 'COMMITMENT_EXPIRED')
      }),
    )
  })

  test.each<[string, Partial<typeof stub>]>([
    ['another paymaster', { paymaster: `0x${'7b'.repeat(20)}` }],
    ['gas for a postOp', { paymasterPostOpGasLimit: 2n }],
    ['too little gas for the tank', { paymasterVerificationGasLimit: 29_999n }],
    [
      'data that the account would sign whole',
      { paymasterData: encodeTankData(range, stubSignature) },
    ],
    ['longer data', { paymasterData: `0x00${stub.paymasterData.slice(2)}` }],
    ['no data', { paymasterData: '0x' }],
  ])('refuses %s', (_, changes) => {
    expect(refusalOf(changes)).toMatchObject({ code: 'COMMITMENT_CHANGED' })
  })

  test('lets the account give the tank more gas', () => {
    expect(refusalOf({ paymasterVerificationGasLimit: 30_001n })).toBeUndefined()
  })
})

describe('checkCommittedGas', () => {
  const gas = {
    callGasLimit: 100n,
    verificationGasLimit: 200n,
    preVerificationGas: 300n,
    paymasterVerificationGasLimit: 400n,
  }
  const estimate = gas as unknown as GasEstimate

  test('passes what is enough', () => {
    expect(checkCommittedGas(gas, estimate)).toBeUndefined()
    expect(checkCommittedGas({ ...gas, callGasLimit: 101n }, estimate)).toBeUndefined()
  })

  test('passes a verification limit that covers what was measured, without headroom', () => {
    const verificationGasLimit = gas.verificationGasLimit - 26n
    expect(checkCommittedGas({ ...gas, verificationGasLimit }, estimate)).toBeUndefined()
    const lower = { ...gas, verificationGasLimit: verificationGasLimit - 1n }
    expect(checkCommittedGas(lower, estimate)?.code).toBe('GAS_TOO_LOW')
  })

  test.each(['callGasLimit', 'preVerificationGas'] as const)(
    'refuses one gas too little in %s with the numbers',
    (field) => {
      const refusal = checkCommittedGas({ ...gas, [field]: gas[field] - 1n }, estimate)
      expect(refusal?.code).toBe('GAS_TOO_LOW')
      expect(refusal?.message).toMatch(new RegExp(`${field} is ${gas[field] - 1n}.* ${gas[field]}`))
    },
  )
})
