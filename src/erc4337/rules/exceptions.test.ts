import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  ROLES,
  type RuleFixture,
  ruleFixtures,
  type Scenario,
  scenarioOf,
} from '../../../test/support/erc7562/ruleFixture.js'
import { addressOf } from '../../../test/evm/harness.js'
import { type RuleException, waivableRules } from '../validationSettings.js'
import { describeException, splitWaived } from './exceptions.js'
import type { EntityRole, Violation } from './violation.js'

const NOW = 1_800_000_000

/** An exception from every rule that has any. */
function exceptionOf(
  role: EntityRole,
  address: Address,
  terms: Partial<RuleException> = {},
): RuleException {
  return { role, address, rules: waivableRules, reason: 'audited', until: NOW + 1, ...terms }
}

/** The rules that still refuse the scenario, and those that are waived, each once. */
function judge(fixture: RuleFixture, scenario: Scenario, ...exceptions: RuleException[]) {
  const split = splitWaived(fixture.check(scenario).violations, exceptions, NOW)
  const rules = (some: readonly Violation[]) => [...new Set(some.map(({ rule }) => rule))]
  return { refused: rules(split.violations), waived: rules(split.waived) }
}

describe.each(ruleFixtures())('an exception from the rules on EntryPoint %s', (_, fixture) => {
  const { stranger, paymaster, account } = fixture
  const timestamp = { what: 'TIMESTAMP' }
  const readOfOthers = { what: 'SLOAD', how: 'CALL', via: stranger, value: 5n } as const

  it.each(ROLES)('waives for a named %s what it and the contracts that it calls do', (role) => {
    for (const act of [timestamp, { ...timestamp, how: 'CALL', via: stranger } as const]) {
      const scenario = scenarioOf(role, act)
      const exception = exceptionOf(role, fixture.addressOf(role, scenario))
      expect(judge(fixture, scenario)).toEqual({ refused: ['OP-011'], waived: [] })
      expect(judge(fixture, scenario, exception)).toEqual({ refused: [], waived: ['OP-011'] })
    }
  })

  it('is for the entity in its role, the rule and the time that it names', () => {
    const scenario = scenarioOf('paymaster', timestamp)
    for (const other of [
      exceptionOf('paymaster', account),
      exceptionOf('account', paymaster),
      exceptionOf('paymaster', paymaster, { rules: ['STO-031'] }),
      exceptionOf('paymaster', paymaster, { until: NOW }),
    ])
      expect(judge(fixture, scenario, other).refused).toEqual(['OP-011'])
  })

  it('is not for another entity of the same operation', () => {
    const both = { account: timestamp, paymaster: timestamp }
    const { violations, waived } = splitWaived(
      fixture.check(both).violations,
      [exceptionOf('paymaster', paymaster)],
      NOW,
    )
    expect(violations).toMatchObject([{ rule: 'OP-011', entity: 'account' }])
    expect(waived).toMatchObject([{ rule: 'OP-011', entity: 'paymaster' }])
  })

  it('is not for what the sender does when the entity calls it, or lends it its own storage', () => {
    for (const how of ['CALL', 'DELEGATECALL'] as const) {
      const scenario = scenarioOf('paymaster', { ...timestamp, how, via: account })
      const judged = judge(fixture, scenario, exceptionOf('paymaster', paymaster))
      expect(judged).toEqual({ refused: ['OP-011'], waived: [] })
    }
  })

  it('allows an unstaked entity what a stake would', () => {
    const exception = exceptionOf('paymaster', paymaster)
    const acts = [
      [{ what: 'SSTORE', value: 5n }, 'STO-031'],
      [readOfOthers, 'STO-033'],
      [{ what: 'SSTORE OF', how: 'CALL', via: stranger, subject: paymaster }, 'STO-032'],
      [{ what: 'SELFBALANCE' }, 'OP-080'],
      [{ what: 'CONTEXT', value: 32n }, 'EREP-050'],
    ] as const
    for (const [act, rule] of acts) {
      const scenario = scenarioOf('paymaster', act)
      expect(judge(fixture, scenario)).toEqual({ refused: [rule], waived: [] })
      expect(judge(fixture, scenario, exception)).toEqual({ refused: [], waived: [rule] })
    }
  })

  it('of a factory covers slots of the account that it creates', () => {
    const sender = fixture.senderOf({ deploys: {} })
    const act = { what: 'SSTORE OF', how: 'CALL', via: stranger, subject: sender } as const
    const scenario = { factory: act, deploys: {} }
    const exception = exceptionOf('factory', fixture.factory)
    expect(judge(fixture, scenario)).toEqual({ refused: ['STO-022'], waived: [] })
    expect(judge(fixture, scenario, exception)).toEqual({ refused: [], waived: ['STO-022'] })
  })

  it('allows nobody to write what others own, or to use another entity’s storage', () => {
    const exception = exceptionOf('paymaster', paymaster)
    const write = { what: 'SSTORE', how: 'CALL', value: 5n } as const
    for (const via of [stranger, fixture.factory])
      for (const staked of [[], ['paymaster']] as const) {
        const scenario = {
          ...scenarioOf('paymaster', { ...write, via }, staked),
          factory: { what: 'CHAINID' },
        }
        expect(judge(fixture, scenario, exception).refused).toEqual(['STO-033'])
      }
  })

  it('never covers gas, creation, deposits, code that may come, or other entities’ rules', () => {
    const exception = exceptionOf('account', account)
    const acts = [
      [{ what: 'GAS' }, 'OP-012'],
      [{ what: 'CREATE' }, 'OP-011'],
      [{ what: 'CREATE2', value: 1n }, 'OP-031'],
      [{ what: 'CALL', subject: addressOf(0xdeadcafe) }, 'OP-041'],
      [{ what: 'CALL', subject: fixture.chain.place('0x5b5f56'), gas: 3_000n }, 'OP-020'],
    ] as const
    for (const [act, rule] of acts)
      expect(judge(fixture, scenarioOf('account', act), exception).refused).toEqual([rule])
    for (const code of ['0xfe', '0x5fff'] as const) {
      const act = { what: 'CALL', subject: fixture.chain.place(code), gas: 40_000n }
      expect(judge(fixture, scenarioOf('account', act), exception).refused).toContain('OP-011')
    }
  })
})

it('is described with its end', () => {
  const exception = exceptionOf('paymaster', addressOf(7), { rules: ['OP-011', 'OP-080'] })
  const words = `OP-011, OP-080 until 2027-01-15T08:00:01.000Z: audited`
  const paymaster = `paymaster ${addressOf(7)}`
  expect(describeException(exception, NOW)).toEqual({
    text: `${paymaster} may break ${words}`,
    hasEnded: false,
  })
  expect(describeException(exception, NOW + 1)).toEqual({
    text: `${paymaster} could break ${words}`,
    hasEnded: true,
  })
})
