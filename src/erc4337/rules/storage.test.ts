import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { type Act, actCall } from '../../../test/support/erc7562/actor.js'
import {
  ROLES,
  ruleFixtures,
  rulesOf,
  type Scenario,
} from '../../../test/support/erc7562/ruleFixture.js'
import type { EntityRole } from './index.js'

const READS = ['SLOAD', 'TLOAD'] as const
const WRITES = ['SSTORE', 'TSTORE'] as const
const ALL = [...READS, ...WRITES]
const SOMEBODY: Address = '0x00000000000000000000000000000000deadcafe'

describe.each(ruleFixtures())('storage on EntryPoint %s', (_, fixture) => {
  const { stranger, account, factory, paymaster } = fixture
  const rules = (scenario: Scenario) => rulesOf(fixture.check(scenario))
  const stake = (role: EntityRole) => ({ staked: [role] })
  /** Of the contract that is no entity. */
  const abroad = (act: Act): Act => ({ ...act, how: 'CALL', via: stranger })
  /** Calls `target` so that it performs `act` on its own storage. */
  const inside = (target: Address, act: Act): Act => {
    return { what: 'CALL', subject: target, data: actCall(act) }
  }

  describe('STO-010: the account’s own storage', () => {
    it.each(ALL)('%s by itself, by its factory, by its paymaster, unstaked', (what) => {
      expect(rules({ account: { what } })).toEqual([])
      expect(rules({ construct: { what } })).toEqual([])
      expect(rules({ account: { what, how: 'DELEGATECALL', via: stranger } })).toEqual([])
      expect(rules({ factory: inside(fixture.senderOf({ deploys: {} }), { what }) })).toEqual([])
      expect(rules({ paymaster: inside(account, { what }) })).toEqual([])
    })
  })

  it('a deployment may use the token of a token tank of ours by an approval only', () => {
    const scenario = (construct: Act): Scenario => ({
      construct,
      paymaster: { what: 'SLOAD' },
      staked: ['paymaster'],
      paymentToken: stranger,
    })
    expect(rules(scenario(abroad({ what: 'SLOAD', value: 3n })))).toEqual(['STO-033'])
    for (const what of ALL)
      expect(rules(scenario(abroad({ what: `${what} OF`, subject: paymaster })))).not.toEqual([])
  })

  describe.each(['factory', 'paymaster'] as const)('STO-031: the %s’s own storage', (role) => {
    it.each(ALL)('%s only when it is staked', (what) => {
      for (const how of ['SELF', 'DELEGATECALL'] as const) {
        const scenario = { [role]: { what, how, via: stranger, value: 3n } }
        const { violations } = fixture.check(scenario)
        const address = fixture.addressOf(role, scenario)
        expect(violations).toMatchObject([
          {
            rule: 'STO-031',
            entity: role,
            slot: slot(3n),
            contract: address,
            stakeNeeded: { role, address },
          },
        ])
        expect(rules({ ...scenario, ...stake(role) })).toEqual([])
      }
    })

    it('also where the account’s slots are in it', () => {
      const act = { what: 'SLOAD OF', subject: account }
      expect(rules({ [role]: act })).toEqual(['STO-031'])
      expect(rules({ [role]: act, ...stake(role) })).toEqual([])
    })
  })

  describe('STO-021: slots associated with an existing account', () => {
    it.each(ALL)('%s by the account or its paymaster, unstaked', (what) => {
      for (const member of [0n, 1n, 128n]) {
        const act = abroad({ what: `${what} OF`, subject: account, value: member })
        expect(rules({ account: act })).toEqual([])
        expect(rules({ paymaster: act })).toEqual([])
      }
    })

    it('the slot that is the account’s address', () => {
      for (const what of ALL) {
        expect(rules({ account: abroad({ what, value: BigInt(account) }) })).toEqual([])
        expect(rules({ account: abroad({ what, value: BigInt(account) + 1n }) })).toEqual([
          'STO-033',
        ])
      }
    })

    it('no slot farther than 128 from the hash, and none before it', () => {
      for (const member of [129n, 2n ** 256n - 1n]) {
        const act = abroad({ what: 'SLOAD OF', subject: account, value: member })
        expect(rules({ account: act })).toEqual(['STO-033'])
      }
    })

    it('not in a contract that is another entity', () => {
      const act = { what: 'SLOAD OF', subject: account }
      const scenario = { account: inside(paymaster, act), paymaster: { what: 'CHAINID' } }
      for (const staked of [[], ROLES]) {
        const { violations } = fixture.check({ ...scenario, staked })
        expect(violations).toMatchObject([
          { rule: 'STO-033', entity: 'account', contract: paymaster },
        ])
        expect(violations[0]!.stakeNeeded).toBeUndefined()
      }
    })
  })

  describe('STO-022: slots associated with an account that is being created', () => {
    const sender = fixture.senderOf({ deploys: {} })

    it.each(ALL)('%s only when the factory is staked', (what) => {
      const act = abroad({ what: `${what} OF`, subject: sender, value: 2n })
      for (const role of ROLES) {
        const scenario: Scenario = { deploys: {}, [role]: act }
        const { violations } = fixture.check(scenario)
        expect(violations).toMatchObject([
          {
            rule: 'STO-022',
            entity: role,
            contract: stranger,
            stakeNeeded: { role: 'factory', address: factory },
          },
        ])
        expect(rules({ ...scenario, ...stake('factory') })).toEqual([])
      }
    })

    it('reading them is open to a staked paymaster too (STO-033)', () => {
      const act = (what: string) => abroad({ what, subject: sender })
      const scenario = { deploys: {}, ...stake('paymaster') }
      expect(rules({ ...scenario, paymaster: act('SLOAD OF') })).toEqual([])
      expect(rules({ ...scenario, paymaster: act('SSTORE OF') })).toEqual(['STO-022'])
    })
  })

  describe.each(['factory', 'paymaster'] as const)(
    'STO-032: slots associated with the %s',
    (role) => {
      it.each(ALL)('%s only when it is staked', (what) => {
        const address = fixture.addressOf(role, {})
        const act = abroad({ what: `${what} OF`, subject: address, value: 128n })
        const { violations } = fixture.check({ [role]: act })
        expect(violations).toMatchObject([
          { rule: 'STO-032', entity: role, contract: stranger, stakeNeeded: { role, address } },
        ])
        expect(rules({ [role]: act, ...stake(role) })).toEqual([])
      })

      it('not in the storage of another entity', () => {
        const other = role === 'factory' ? 'paymaster' : 'factory'
        const act = { what: 'SSTORE OF', subject: fixture.addressOf(role, {}) }
        const scenario = {
          deploys: {},
          paymaster: { what: 'CHAINID' },
          [role]: inside(fixture.addressOf(other, {}), act),
        }
        expect(rules({ ...scenario, staked: ROLES })).toEqual(['STO-033'])
      })
    },
  )

  describe('STO-033: what others own', () => {
    it.each(READS)('%s by staked entities only', (what) => {
      for (const role of ROLES) {
        const scenario = { [role]: abroad({ what: `${what} OF`, subject: SOMEBODY }) }
        const { violations } = fixture.check(scenario)
        expect(violations).toMatchObject([
          { rule: 'STO-033', entity: role, contract: stranger, stakeNeeded: { role } },
        ])
        expect(rules({ ...scenario, ...stake(role) })).toEqual([])
        const others = ROLES.filter((other) => other !== role)
        expect(rules({ ...scenario, staked: others })).toEqual(['STO-033'])
      }
    })

    it.each(WRITES)('%s by nobody', (what) => {
      for (const role of ROLES) {
        const scenario = { [role]: abroad({ what: `${what} OF`, subject: SOMEBODY }) }
        for (const staked of [[], ROLES]) {
          const { violations } = fixture.check({ ...scenario, staked })
          expect(violations).toMatchObject([{ rule: 'STO-033', entity: role, contract: stranger }])
          expect(violations[0]!.stakeNeeded).toBeUndefined()
        }
      }
    })

    it('reading another entity’s storage is not open to anyone', () => {
      const scenario = {
        account: inside(paymaster, { what: 'SLOAD' }),
        paymaster: { what: 'CHAINID' },
      }
      expect(rules({ ...scenario, staked: ROLES })).toEqual(['STO-033'])
    })
  })

  it.each([
    ['persistent', '0x5f54505f5f55'],
    ['transient', '0x5f5c505f5f5d'],
  ] as const)('a %s slot that a frame reads and writes counts once, as written', (__, code) => {
    const subject = fixture.chain.place(code)
    const { violations } = fixture.check({ account: { what: 'CALL', subject } })
    expect(violations).toMatchObject([{ rule: 'STO-033', contract: subject, slot: slot(0n) }])
    expect(violations[0]!.message).toContain('writes')
  })

  it('OP-070: says that a slot is transient', () => {
    const [tload] = fixture.check({ paymaster: { what: 'TLOAD' } }).violations
    expect(tload!.message).toContain('paymaster reads transient slot')
    const [sstore] = fixture.check({ paymaster: { what: 'SSTORE' } }).violations
    expect(sstore!.message).toContain('paymaster writes slot')
  })

  describe('the storage reported', () => {
    const own = { what: 'SSTORE', value: 1n }

    it('is listed by contract, reads and writes apart, without the EntryPoint’s', () => {
      const { accessed } = fixture.check({
        account: abroad({ what: 'SSTORE OF', subject: account }),
        paymaster: inside(account, { what: 'TLOAD', value: 2n }),
      })
      expect([...accessed.writes.keys()]).toEqual([stranger])
      expect([...accessed.reads]).toEqual([[account, new Set([slot(2n)])]])
    })

    it('leaves out what the EntryPoint writes for the account', () => {
      const pay = { what: 'CALL', subject: fixture.chain.entryPoint.address, value: 1n }
      const { reads, writes } = fixture.check({ account: pay }).accessed
      expect([...reads, ...writes]).toEqual([])
    })

    it('is that of the caller under DELEGATECALL', () => {
      const act = { ...own, how: 'DELEGATECALL', via: stranger } as const
      const { accessed } = fixture.check({ account: act })
      expect([...accessed.writes]).toEqual([[account, new Set([slot(1n)])]])
    })

    it('names contracts with associated slots of the account and of staked entities (STO-041)', () => {
      const associatedIn = (scenario: Scenario) => [
        ...fixture.check(scenario).accessed.associatedIn,
      ]
      expect(associatedIn({ account: abroad({ what: 'SLOAD OF', subject: account }) })).toEqual([
        stranger,
      ])
      const act = abroad({ what: 'SLOAD OF', subject: paymaster })
      expect(associatedIn({ paymaster: act })).toEqual([])
      expect(associatedIn({ paymaster: act, ...stake('paymaster') })).toEqual([stranger])
      const ofFactory = abroad({ what: 'SLOAD OF', subject: factory })
      expect(associatedIn({ factory: ofFactory, ...stake('factory') })).toEqual([stranger])
      expect(associatedIn({ account: own })).toEqual([])
    })
  })
})

function slot(number: bigint): Hex {
  return `0x${number.toString(16).padStart(64, '0')}`
}
