import { describe, expect, it } from 'vitest'
import { OperationLimitError } from '../../base/errors/operationErrors.js'
import { RuleViolationError, StakeTooLowError } from '../../base/errors/ruleErrors.js'
import { toViolationError } from './toViolationError.js'
import { type Violation, violation } from './violation.js'

const policy = { minimumStake: 10n ** 18n, minimumUnstakeDelay: 86_400n }
const paymaster = { role: 'paymaster', address: `0x${'a1'.repeat(20)}` } as const
const contract = `0x${'b2'.repeat(20)}` as const
const slot = `0x${'00'.repeat(31)}07` as const
function toError(broken: Violation) {
  return toViolationError(broken, policy)
}

describe('errors of violations', () => {
  it('say -32502 for a banned opcode, and where it is', () => {
    const error = toError(
      violation('OP-011', paymaster, 'paymaster uses banned opcode: NUMBER', {
        opcode: 0x43,
        contract,
      }),
    )
    expect(error).toBeInstanceOf(RuleViolationError)
    expect(error).toMatchObject({
      code: -32502,
      status: 400,
      rule: 'OP-011',
      message: 'paymaster uses banned opcode: NUMBER (OP-011)',
      data: { entity: 'paymaster', address: paymaster.address, opcode: '0x43', contract },
    })
  })

  it.each(['STO-033', 'COD-010', 'AUTH-020', 'LIM-020', 'EREP-055'] as const)(
    'say -32502 for %s',
    (rule) => {
      expect(toError(violation(rule, paymaster, 'why'))).toMatchObject({ code: -32502, rule })
    },
  )

  it('say -32502 with both minima where a stake makes the use of storage legal', () => {
    const error = toError(
      violation('STO-031', paymaster, 'unstaked paymaster reads its slot', {
        slot,
        contract: paymaster.address,
        stakeNeeded: paymaster,
      }),
    )
    expect(error).toBeInstanceOf(StakeTooLowError)
    expect(error).toMatchObject({
      code: -32502,
      status: 400,
      rule: 'STO-031',
      data: {
        paymaster: paymaster.address,
        minimumStake: '0xde0b6b3a7640000',
        minimumUnstakeDelay: '0x15180',
        slot,
      },
    })
    expect(error.message).toContain('needs a stake of at least 1000000000000000000 wei')
  })

  it('name the factory when it is the one to stake', () => {
    const factory = { role: 'factory', address: contract } as const
    const error = toError(violation('STO-022', paymaster, 'why', { slot, stakeNeeded: factory }))
    expect(error).toMatchObject({ code: -32502, data: { factory: contract } })
    expect(error.data).not.toHaveProperty('paymaster')
  })

  it('say -32502 for an opcode even where a stake would help', () => {
    const details = { opcode: 0x31, contract, stakeNeeded: paymaster }
    expect(toError(violation('OP-080', paymaster, 'why', details)).code).toBe(-32502)
  })

  it('say -32602 for a field to change', () => {
    const error = toError(violation('LIM-060', paymaster, 'too high', { field: 'callData' }))
    expect(error).toBeInstanceOf(OperationLimitError)
    expect(error).toMatchObject({ code: -32602, rule: 'LIM-060', data: { field: 'callData' } })
  })
})
