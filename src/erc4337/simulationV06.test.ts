import fc from 'fast-check'
import { encodeErrorResult, encodeFunctionData, type Hex } from 'viem'
import { entryPoint06Abi } from 'viem/account-abstraction'
import { describe, expect, it } from 'vitest'
import {
  arbitraryAddress,
  arbitraryBytes,
  arbitraryOperation,
} from '../../test/support/operations/arbitraryOperation.js'
import { toStructV06 } from '../../test/support/operations/viemStructs.js'
import {
  decodeSimulation,
  encodeSimulateHandleOp,
  encodeSimulateValidation,
} from './simulationV06.js'

const abi = entryPoint06Abi
function uint(bits: bigint) {
  return fc.bigInt({ min: 0n, max: 2n ** bits - 1n })
}
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe('simulation calls', () => {
  it('encodes simulateValidation as viem does', () => {
    fc.assert(
      fc.property(arbitraryOperation('0.6'), (op) => {
        expect(encodeSimulateValidation(op)).toBe(
          encodeFunctionData({
            abi,
            functionName: 'simulateValidation',
            args: [toStructV06(op)],
          }),
        )
      }),
      { numRuns: 1_000 },
    )
  })

  it('encodes simulateHandleOp as viem does', () => {
    fc.assert(
      fc.property(
        arbitraryOperation('0.6'),
        arbitraryAddress,
        arbitraryBytes(),
        (op, target, data) => {
          expect(encodeSimulateHandleOp(op, target, data)).toBe(
            encodeFunctionData({
              abi,
              functionName: 'simulateHandleOp',
              args: [toStructV06(op), target, data],
            }),
          )
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('decodeSimulation', () => {
  const stake = fc.record({ stake: uint(112n), unstakeDelaySec: uint(32n) })
  const ours = (info: { stake: bigint; unstakeDelaySec: bigint }) => ({
    stake: info.stake,
    unstakeDelay: info.unstakeDelaySec,
  })
  const returnInfo = fc.record({
    preOpGas: uint(256n),
    prefund: uint(256n),
    sigFailed: fc.boolean(),
    validAfter: time,
    validUntil: time,
    paymasterContext: arbitraryBytes(),
  })

  it('reads ValidationResult with and without aggregator', () => {
    fc.assert(
      fc.property(
        returnInfo,
        stake,
        stake,
        stake,
        fc.option(fc.record({ aggregator: arbitraryAddress, stakeInfo: stake })),
        (info, sender, factory, paymaster, aggregator) => {
          const data = aggregator
            ? encodeErrorResult({
                abi,
                errorName: 'ValidationResultWithAggregation',
                args: [info, sender, factory, paymaster, aggregator],
              })
            : encodeErrorResult({
                abi,
                errorName: 'ValidationResult',
                args: [info, sender, factory, paymaster],
              })
          expect(decodeSimulation(data)).toEqual({
            kind: 'validation',
            preOpGas: info.preOpGas,
            prefund: info.prefund,
            signatureFailed: info.sigFailed,
            validAfter: info.validAfter,
            validUntil: info.validUntil === 2 ** 48 - 1 ? 0 : info.validUntil,
            paymasterContext: info.paymasterContext,
            sender: ours(sender),
            factory: ours(factory),
            paymaster: ours(paymaster),
            aggregator: aggregator
              ? { address: aggregator.aggregator, ...ours(aggregator.stakeInfo) }
              : undefined,
          })
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('reads ExecutionResult', () => {
    fc.assert(
      fc.property(
        uint(256n),
        uint(256n),
        time,
        time,
        fc.boolean(),
        arbitraryBytes(),
        (preOpGas, paid, validAfter, validUntil, targetSuccess, targetResult) => {
          const data = encodeErrorResult({
            abi,
            errorName: 'ExecutionResult',
            args: [preOpGas, paid, validAfter, validUntil, targetSuccess, targetResult],
          })
          expect(decodeSimulation(data)).toEqual({
            kind: 'execution',
            preOpGas,
            paid,
            validAfter,
            validUntil: validUntil === 2 ** 48 - 1 ? 0 : validUntil,
            targetSuccess,
            targetResult,
          })
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('says that the largest validUntil is no bound', () => {
    const data = encodeErrorResult({
      abi,
      errorName: 'ExecutionResult',
      args: [1n, 2n, 0, 2 ** 48 - 1, true, '0x'],
    })
    expect(decodeSimulation(data)).toMatchObject({ validUntil: 0 })
  })

  it('reads FailedOp as a failure', () => {
    const data = encodeErrorResult({
      abi,
      errorName: 'FailedOp',
      args: [0n, 'AA23 reverted: Not owner'],
    })
    expect(decodeSimulation(data)).toEqual({
      kind: 'failure',
      failure: { index: 0, code: 'AA23', message: 'AA23 reverted: Not owner', revertData: data },
    })
  })

  it('never throws on random bytes, also behind the right selector', () => {
    const selectors: Hex[] = ['0x', '0xe0cff05f', '0xfaecb4e4', '0x8b7ac980', '0x220266b6']
    fc.assert(
      fc.property(fc.constantFrom(...selectors), arbitraryBytes(600), (selector, rest) => {
        decodeSimulation(`${selector}${rest.slice(2)}`)
      }),
      { numRuns: 5_000 },
    )
    expect(decodeSimulation('0x')).toBeUndefined()
    expect(decodeSimulation('0x8b7ac980')).toBeUndefined()
  })
})
