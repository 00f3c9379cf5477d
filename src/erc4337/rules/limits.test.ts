import { size } from 'viem'
import { describe, expect, it } from 'vitest'
import { operationOf } from '../../../test/support/erc7562/memoryChain.js'
import { canonicalAddresses } from '../canonicalAddresses.js'
import { createEntryPoint } from '../createEntryPoint.js'
import type { Operation } from '../operation.js'
import { checkFields } from './limits.js'
import { limitProfiles } from './ruleLimits.js'

const { canonical, lenient } = limitProfiles
const entryPoint = createEntryPoint('0.7', canonicalAddresses['0.7'])
const SENDER = `0x${'51'.repeat(20)}` as const
const PAYMASTER = `0x${'52'.repeat(20)}` as const

const good = operationOf(SENDER, {
  paymaster: PAYMASTER,
  verificationGasLimit: 499_999n,
  paymasterVerificationGasLimit: 499_999n,
})
function violationsOf(
  fields: Partial<Operation>,
  limits = canonical as typeof canonical | typeof lenient,
) {
  return checkFields(entryPoint, { ...good, ...fields }, limits)
}

describe('limits of an operation’s fields', () => {
  it('let an ordinary operation pass', () => {
    expect(violationsOf({})).toEqual([])
    expect(violationsOf({}, lenient)).toEqual([])
  })

  it('LIM-010: at most 8,192 bytes when packed', () => {
    const rest = size(entryPoint.encodeOperation(good))
    const callData = `0x${'00'.repeat(8_192 - rest)}` as const
    expect(violationsOf({ callData })).toEqual([])
    expect(violationsOf({ callData: `${callData}00` })).toMatchObject([
      { rule: 'LIM-010', entity: 'account', address: SENDER, field: 'callData' },
    ])
    expect(violationsOf({ factory: PAYMASTER, factoryData: callData })).toMatchObject([
      { rule: 'LIM-010', field: 'factoryData' },
    ])
    expect(violationsOf({ callData: `${callData}00` }, lenient)).toEqual([])
  })

  it('LIM-060: verification limits below 500,000 gas', () => {
    expect(violationsOf({ verificationGasLimit: 500_000n })).toMatchObject([
      { rule: 'LIM-060', entity: 'account', field: 'verificationGasLimit' },
    ])
    expect(violationsOf({ paymasterVerificationGasLimit: 500_000n })).toMatchObject([
      {
        rule: 'LIM-060',
        entity: 'paymaster',
        address: PAYMASTER,
        field: 'paymasterVerificationGasLimit',
      },
    ])
    expect(violationsOf({ verificationGasLimit: 5_000_000n }, lenient)).toEqual([])
    expect(violationsOf({ verificationGasLimit: 10_000_000n }, lenient)).toHaveLength(1)
  })

  it('LIM-070: preVerificationGas for calldata and 50,000 gas', () => {
    const required = (op: Operation) => {
      const bytes = [...Buffer.from(entryPoint.encodeOperation(op).slice(2), 'hex')]
      return bytes.reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 50_000)
    }
    const op = { ...good, preVerificationGas: 55_000n }
    const least = BigInt(required(op))
    expect(violationsOf({ preVerificationGas: least })).toEqual([])
    expect(violationsOf({ preVerificationGas: least - 1n })).toMatchObject([
      { rule: 'LIM-070', entity: 'account', field: 'preVerificationGas' },
    ])
    expect(violationsOf({ preVerificationGas: least - 50_000n }, lenient)).toEqual([])
    expect(violationsOf({ preVerificationGas: 1_000n }, lenient)).toHaveLength(1)
  })
})
