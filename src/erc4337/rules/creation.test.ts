import { describe, expect, it } from 'vitest'
import {
  type Act,
  actCall,
  actorInitcode,
  deployCall,
} from '../../../test/support/erc7562/actor.js'
import {
  HOWS,
  type RuleFixture,
  ruleFixtures,
  rulesOf,
  type Scenario,
  scenarioOf,
} from '../../../test/support/erc7562/ruleFixture.js'

const CREATE: Act = { what: 'CREATE' }
const CREATE2: Act = { what: 'CREATE2', value: 5n }
const FACTORY = ['factory'] as const

/** `act` by a contract that the entity calls. */
function nested({ stranger }: RuleFixture, act: Act): Act {
  return { ...act, how: 'CALL', via: stranger }
}

describe.each(ruleFixtures())('creations on EntryPoint %s', (version, fixture) => {
  const rules = (scenario: Scenario) => rulesOf(fixture.check(scenario))

  describe('without a factory', () => {
    it.each(['account', 'paymaster'] as const)('none by the %s, staked or not', (role) => {
      for (const how of HOWS) {
        for (const staked of [[], [role]]) {
          const by = { how, via: fixture.stranger }
          const one = fixture.check(scenarioOf(role, { ...CREATE, ...by }, staked))
          expect(one.violations).toMatchObject([{ rule: 'OP-011', entity: role, opcode: 0xf0 }])
          expect(one.violations[0]!.message).toContain(`${role} uses banned opcode: CREATE`)
          const two = fixture.check(scenarioOf(role, { ...CREATE2, ...by }, staked))
          expect(two.violations).toMatchObject([{ rule: 'OP-031', entity: role, opcode: 0xf5 }])
          expect(two.violations[0]!.message).toContain(`${role} uses banned opcode: CREATE2`)
        }
      }
    })
  })

  describe('OP-031: in the deployment', () => {
    it('CREATE2 of the sender by the factory', () => {
      expect(rules({ deploys: {} })).toEqual([])
    })

    it('CREATE2 of the sender by a helper of the factory', () => {
      expect(rules({ deploys: { how: 'VIA', via: fixture.stranger } })).toEqual([])
    })

    it('no second CREATE2, before or after', () => {
      for (const before of [false, true]) {
        const { violations } = fixture.check({ factory: CREATE2, deploys: { before } })
        expect(violations).toMatchObject([
          { rule: 'OP-031', entity: 'factory', opcode: 0xf5, stakeNeeded: { role: 'factory' } },
        ])
      }
    })

    it('no second CREATE2 of the sender itself, which fails', () => {
      const data = deployCall(actorInitcode())
      const factory = { what: 'CALL', subject: fixture.factory, gas: 500_000n, data }
      const { violations } = fixture.check({ factory })
      expect(violations).toMatchObject([{ rule: 'OP-031', entity: 'factory' }])
    })

    it('no CREATE2 of the sender in a later phase', () => {
      const via = fixture.stranger
      const account = {
        what: 'CALL',
        subject: via,
        gas: 500_000n,
        data: deployCall(actorInitcode()),
      }
      const { violations } = fixture.check({ deploys: { how: 'VIA', via }, account })
      expect(violations).toMatchObject([{ rule: 'OP-031', entity: 'account' }])
    })

    it('no CREATE2 by the sender constructed', () => {
      expect(rules({ construct: CREATE2 })).toEqual(['OP-031'])
    })

    it('no creation of the sender by CREATE', () => {
      const { violations } = fixture.check({ deploys: { how: 'CREATE' } })
      expect(violations).toMatchObject([{ rule: 'OP-011', entity: 'factory', opcode: 0xf0 }])
    })

    it('not even when CREATE2 creates nothing', () => {
      const act = { what: 'STATICCALL', subject: fixture.stranger, data: actCall(CREATE2) }
      expect(rules({ factory: act })).toContain('OP-031')
      expect(rules({ account: act })).toContain('OP-031')
    })
  })

  describe('OP-032: with an unstaked factory', () => {
    it('the sender may CREATE, in its constructor and in its validation', () => {
      expect(rules({ construct: CREATE })).toEqual([])
      expect(rules({ deploys: {}, account: CREATE })).toEqual([])
    })

    it('by code that it delegates to as well', () => {
      const act = { ...CREATE, how: 'DELEGATECALL', via: fixture.stranger } as const
      expect(rules({ deploys: {}, account: act })).toEqual([])
    })

    it('but not through a helper, and not CREATE2', () => {
      expect(rules({ deploys: {}, account: nested(fixture, CREATE) })).toEqual(['OP-011'])
      expect(rules({ construct: nested(fixture, CREATE) })).toEqual(['OP-011'])
      expect(rules({ deploys: {}, account: CREATE2 })).toEqual(['OP-031'])
    })

    it('nor the factory or the paymaster', () => {
      expect(fixture.check({ factory: CREATE }).violations).toMatchObject([
        { rule: 'OP-011', entity: 'factory', stakeNeeded: { role: 'factory' } },
      ])
      expect(rules({ deploys: {}, paymaster: CREATE })).toEqual(['OP-011'])
    })
  })

  describe('with a staked factory', () => {
    const staked = FACTORY

    it('EREP-060: factory and sender may CREATE and CREATE2', () => {
      for (const act of [CREATE, CREATE2]) {
        expect(rules({ factory: act, staked })).toEqual([])
        expect(rules({ construct: act, staked })).toEqual([])
        expect(rules({ deploys: {}, account: act, staked })).toEqual([])
      }
      expect(rules({ deploys: { how: 'CREATE' }, staked })).toEqual([])
    })

    it('EREP-061: a helper of the factory may CREATE, but not CREATE2', () => {
      expect(rules({ factory: nested(fixture, CREATE), staked })).toEqual([])
      expect(rules({ factory: nested(fixture, CREATE2), staked })).toEqual(['OP-031'])
    })

    it('but no helper of the account, and no paymaster', () => {
      expect(rules({ deploys: {}, account: nested(fixture, CREATE), staked })).toEqual(['OP-011'])
      expect(rules({ deploys: {}, account: nested(fixture, CREATE2), staked })).toEqual(['OP-031'])
      expect(rules({ deploys: {}, paymaster: CREATE, staked })).toEqual(['OP-011'])
      expect(rules({ deploys: {}, paymaster: CREATE2, staked })).toEqual(['OP-031'])
    })

    it('the stake of another entity does not count', () => {
      expect(rules({ factory: CREATE, staked: ['account', 'paymaster'] })).toEqual(['OP-011'])
    })
  })

  it.runIf(version === 'v0.9')('a factory that is ignored allows nothing', () => {
    const { account, factory } = fixture
    const fields = { sender: account, factory, factoryData: '0x00' } as const
    for (const staked of [[], FACTORY]) {
      const { violations } = fixture.check({ account: CREATE, fields, staked, senderExists: true })
      expect(violations).toMatchObject([{ rule: 'OP-011', entity: 'account' }])
    }
  })
})
