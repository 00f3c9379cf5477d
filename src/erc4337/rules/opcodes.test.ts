import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { type Act, actCall } from '../../../test/support/erc7562/actor.js'
import {
  HOWS,
  ROLES,
  type RuleFixture,
  ruleFixtures,
  rulesOf,
  scenarioOf,
} from '../../../test/support/erc7562/ruleFixture.js'
import { usesOpcode } from '../../evm/index.js'
import { framesOf } from './ruleContext.js'

const BANNED = [
  ['ORIGIN', 0x32],
  ['GASPRICE', 0x3a],
  ['BLOCKHASH', 0x40],
  ['COINBASE', 0x41],
  ['TIMESTAMP', 0x42],
  ['NUMBER', 0x43],
  ['DIFFICULTY', 0x44],
  ['GASLIMIT', 0x45],
  ['BASEFEE', 0x48],
  ['BLOBHASH', 0x49],
  ['BLOBBASEFEE', 0x4a],
] as const

/** A call, with little gas, of a contract that has this code. */
function callOf(fixture: RuleFixture, code: Hex, gas = 10_000n): Act {
  return { what: 'CALL', subject: fixture.chain.place(code), gas }
}

describe.each(ruleFixtures())('opcodes on EntryPoint %s', (_, fixture) => {
  const { stranger } = fixture

  describe.each(ROLES)('of the %s', (role) => {
    it.each(BANNED)('OP-011: %s is banned, wherever it runs', (what, opcode) => {
      for (const how of HOWS) {
        const scenario = scenarioOf(role, { what, how, via: stranger })
        const { violations } = fixture.check(scenario)
        expect(violations).toHaveLength(1)
        expect(violations[0]).toMatchObject({
          rule: 'OP-011',
          entity: role,
          address: fixture.addressOf(role, scenario),
          opcode,
          contract: how === 'SELF' ? fixture.addressOf(role, scenario) : stranger,
          message: expect.stringContaining(`${role} uses banned opcode: ${what}`),
        })
        expect(violations[0]!.stakeNeeded).toBeUndefined()
      }
    })

    it('OP-011: a stake does not help', () => {
      expect(rulesOf(fixture.check(scenarioOf(role, { what: 'TIMESTAMP' }, ROLES)))).toEqual([
        'OP-011',
      ])
    })

    it.each([
      ['INVALID', '0xfe', 0xfe],
      ['SELFDESTRUCT', '0x33ff', 0xff],
    ] as const)('OP-011: %s is banned', (name, code, opcode) => {
      const { violations } = fixture.check(scenarioOf(role, callOf(fixture, code)))
      expect(violations).toMatchObject([{ rule: 'OP-011', entity: role, opcode }])
      expect(violations[0]!.message).toContain(name)
    })

    it('OP-011: other opcodes of the environment are not', () => {
      expect(rulesOf(fixture.check(scenarioOf(role, { what: 'CHAINID' })))).toEqual([])
    })

    it('OP-012: GAS is banned but directly before a call', () => {
      for (const how of HOWS) {
        const { violations } = fixture.check(scenarioOf(role, { what: 'GAS', how, via: stranger }))
        expect(violations).toMatchObject([{ rule: 'OP-012', entity: role, opcode: 0x5a }])
      }
      for (const what of ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL']) {
        expect(rulesOf(fixture.check(scenarioOf(role, { what, subject: stranger })))).toEqual([])
      }
    })

    it('OP-013: opcodes that the fork does not have are banned', () => {
      const { violations } = fixture.check(scenarioOf(role, callOf(fixture, '0x0c')))
      expect(violations).toMatchObject([{ rule: 'OP-013', entity: role, opcode: 0x0c }])
      expect(violations[0]!.message).toContain(`${role} uses banned opcode: 0xc`)
    })

    it.each([
      ['an endless loop', '0x5b5f56'],
      ['the gas that SSTORE leaves', '0x5f5f55'],
    ] as const)('OP-020: %s that a caller survives is a violation', (__, code) => {
      const act = callOf(fixture, code, 2_300n)
      const { violations } = fixture.check(scenarioOf(role, act))
      expect(violations[0]).toMatchObject({ rule: 'OP-020', entity: role, contract: act.subject })
    })

    it('OP-020: a call that reverts by its own will is none', () => {
      expect(rulesOf(fixture.check(scenarioOf(role, callOf(fixture, '0x5f5ffd'))))).toEqual([])
    })

    it.each([
      ['BALANCE', 0x31],
      ['SELFBALANCE', 0x47],
    ] as const)('OP-080: %s is for staked entities', (what, opcode) => {
      for (const how of HOWS) {
        const act = { what, how, via: stranger, subject: stranger }
        const { violations } = fixture.check(scenarioOf(role, act))
        expect(violations).toMatchObject([
          { rule: 'OP-080', entity: role, opcode, stakeNeeded: { role } },
        ])
        expect(rulesOf(fixture.check(scenarioOf(role, act, [role])))).toEqual([])
      }
    })

    it('OP-080: the stake of another entity does not count', () => {
      const others = ROLES.filter((other) => other !== role)
      const scenario = scenarioOf(role, { what: 'SELFBALANCE' }, others)
      expect(rulesOf(fixture.check(scenario))).toEqual(['OP-080'])
    })
  })

  it('leaves the execution alone', () => {
    const fields = { callData: actCall({ what: 'TIMESTAMP' }) }
    const { root } = fixture.chain.handleOps(fixture.operation({ fields })).record!
    expect([...framesOf(root)].some((frame) => usesOpcode(frame, 0x42))).toBe(true)
    expect(rulesOf(fixture.check({ fields }))).toEqual([])
    expect(rulesOf(fixture.check({ account: { what: 'TIMESTAMP' } }))).toEqual(['OP-011'])
  })
})
