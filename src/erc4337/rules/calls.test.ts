import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf, hex, pushAddress } from '../../../test/evm/harness.js'
import { type Act, actCall } from '../../../test/support/erc7562/actor.js'
import { CHAIN_PRECOMPILE } from '../../../test/support/erc7562/memoryChain.js'
import {
  HOWS,
  ROLES,
  ruleFixtures,
  rulesOf,
  type Scenario,
  scenarioOf,
} from '../../../test/support/erc7562/ruleFixture.js'
import { limitProfiles } from './ruleLimits.js'

const ACCESSES = [
  ['EXTCODESIZE', 0x3b],
  ['EXTCODECOPY', 0x3c],
  ['EXTCODEHASH', 0x3f],
  ['CALL', 0xf1],
  ['CALLCODE', 0xf2],
  ['DELEGATECALL', 0xf4],
  ['STATICCALL', 0xfa],
] as const

const strict = { ...limitProfiles.lenient, readsMissingCode: false }
const EMPTY = addressOf(0xdeadcafe)
const abi = parseAbi([
  'function depositTo(address account) payable',
  'function balanceOf(address account) view returns (uint256)',
  'function incrementNonce(uint192 key)',
])
const INCREMENT_NONCE = encodeFunctionData({ abi, functionName: 'incrementNonce', args: [7n] })

function depositTo(account: `0x${string}`): Hex {
  return encodeFunctionData({ abi, functionName: 'depositTo', args: [account] })
}

describe.each(ruleFixtures())('calls on EntryPoint %s', (_, fixture) => {
  const rules = (scenario: Scenario) => rulesOf(fixture.check(scenario))
  const { stranger, paymaster, account } = fixture
  const entryPoint = fixture.chain.entryPoint.address

  it.each(ACCESSES)('OP-041: %s while the sender is initialized', (what) => {
    for (const how of HOWS) {
      const construct = { what, how, via: stranger, subject: EMPTY }
      const looks = what === 'EXTCODESIZE' || what === 'EXTCODEHASH'
      expect(rules({ construct })).toEqual(looks ? [] : ['OP-041'])
      expect(rules({ construct, limits: strict })).toEqual(['OP-041'])
    }
  })

  describe.each(ROLES)('by the %s', (role) => {
    it.each(ACCESSES)('OP-041: %s of an address without code', (what, opcode) => {
      for (const how of HOWS) {
        const scenario = scenarioOf(role, { what, how, via: stranger, subject: EMPTY })
        const { violations } = fixture.check({ ...scenario, limits: strict })
        expect(violations).toMatchObject([
          { rule: 'OP-041', entity: role, opcode, contract: EMPTY },
        ])
        expect(rules(scenario)).toEqual(['OP-041'])
      }
      expect(rules(scenarioOf(role, { what, subject: stranger }))).toEqual([])
    })

    it('OP-061: no value but to the EntryPoint', () => {
      for (const how of HOWS) {
        const act = { what: 'CALL', how, via: stranger, subject: paymaster, value: 5n }
        const { violations } = fixture.check(scenarioOf(role, act, ROLES))
        expect(violations).toMatchObject([
          { rule: 'OP-061', entity: role, opcode: 0xf1, contract: paymaster },
        ])
      }
      const toItself = { what: 'CALLCODE', subject: stranger, value: 5n }
      expect(rules(scenarioOf(role, toItself))).toEqual(['OP-061'])
      expect(rules(scenarioOf(role, { what: 'CALL', subject: stranger }))).toEqual([])
    })

    it('OP-061: not even value that is not there', () => {
      const act = { what: 'CALL', subject: stranger, value: 10n ** 30n }
      expect(rules(scenarioOf(role, act))).toEqual(['OP-061'])
    })

    it('OP-062: the accepted precompiles', () => {
      const input: Hex = `0x${'00'.repeat(64)}`
      for (const number of [1, 2, 3, 4, 6, 0x100]) {
        const act = { what: 'STATICCALL', subject: addressOf(number), data: input }
        expect(rules(scenarioOf(role, act))).toEqual([])
        expect(rules(scenarioOf(role, { ...act, what: 'EXTCODEHASH' }))).toEqual([])
      }
    })

    it('OP-062: not what else has a low address, OP-041 when nothing is there', () => {
      const system = fixture.chain.place('0xfe', addressOf(0x64))
      const act = { what: 'STATICCALL', gas: 5_000n }
      expect(rules(scenarioOf(role, { ...act, subject: system }))).toContain('OP-062')
      expect(rules(scenarioOf(role, { ...act, subject: addressOf(0x12) }))).toEqual(['OP-041'])
    })

    it('OP-062: no precompile of the chain’s own', () => {
      const subject = addressOf(CHAIN_PRECOMPILE)
      for (const what of ['CALL', 'STATICCALL', 'EXTCODESIZE']) {
        const { violations } = fixture.check(scenarioOf(role, { what, subject }, ROLES))
        expect(violations).toMatchObject([{ rule: 'OP-062', entity: role, contract: subject }])
      }
    })

    it('OP-051: a test for existence of the EntryPoint', () => {
      const code = hex(pushAddress(entryPoint), '3b', '15', '00')
      for (const what of ['CALL', 'DELEGATECALL']) {
        const act = { what, subject: fixture.chain.place(code) }
        expect(rules(scenarioOf(role, act))).toEqual([])
      }
    })

    it.each(ACCESSES.slice(0, 3))('OP-054: no other look at its code: %s', (what, opcode) => {
      for (const how of HOWS) {
        const act = { what, how, via: stranger, subject: entryPoint }
        const { violations } = fixture.check(scenarioOf(role, act, ROLES))
        expect(violations).toMatchObject([
          { rule: 'OP-054', entity: role, opcode, contract: entryPoint },
        ])
      }
    })

    it('OP-054: no call of its other functions', () => {
      const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [account] })
      for (const what of ['CALL', 'STATICCALL']) {
        const { violations } = fixture.check(scenarioOf(role, { what, subject: entryPoint, data }))
        expect(violations).toMatchObject([{ rule: 'OP-054', entity: role, contract: entryPoint }])
      }
    })

    it('OP-054: no borrowing of its code', () => {
      for (const what of ['DELEGATECALL', 'CALLCODE', 'STATICCALL']) {
        for (const data of ['0x', '0x00', depositTo(account), INCREMENT_NONCE] as const) {
          const act = { what, subject: entryPoint, data }
          expect(rules(scenarioOf(role, act))).toContain('OP-054')
        }
      }
    })
  })

  it('OP-042: the factory may touch the sender before it exists, in any way', () => {
    const subject = fixture.senderOf({ deploys: {} })
    for (const how of HOWS) {
      for (const [what] of ACCESSES) {
        const factory = { what, how, via: stranger, subject }
        expect(rules({ factory, deploys: { before: true } })).toEqual([])
      }
    }
  })

  describe('OP-052: depositTo(sender)', () => {
    const deposit = (sender: `0x${string}`): Act => {
      return { what: 'CALL', subject: entryPoint, value: 8n, data: depositTo(sender) }
    }

    it('by the account, also through what it calls', () => {
      for (const how of HOWS) {
        const act = { ...deposit(account), how, via: stranger }
        expect(rules({ account: act })).toEqual([])
      }
    })

    it('as Solidity does it, with a test for existence (OP-051)', () => {
      const act = { what: 'DEPOSIT', subject: entryPoint, value: 8n }
      expect(rules({ account: act })).toEqual([])
      expect(rules({ construct: act })).toEqual([])
    })

    it('by the factory and by the constructor', () => {
      const sender = fixture.senderOf({ deploys: {} })
      for (const how of HOWS) {
        expect(rules({ factory: { ...deposit(sender), how, via: stranger } })).toEqual([])
      }
      const call = { what: 'CALL', subject: sender, data: actCall(deposit(sender)) }
      expect(rules({ factory: call })).toEqual([])
    })

    it('not for another account, and not by the paymaster', () => {
      expect(rules({ account: deposit(paymaster) })).toEqual(['OP-054'])
      expect(rules({ paymaster: deposit(account) })).toEqual(['OP-054'])
      expect(rules({ paymaster: deposit(paymaster), staked: ['paymaster'] })).toEqual(['OP-054'])
    })

    it('by the account when the paymaster calls it', () => {
      const act = { what: 'CALL', subject: account, data: actCall(deposit(account)) }
      expect(rules({ paymaster: act })).toEqual([])
    })
  })

  describe('OP-053: the fallback', () => {
    const pay: Act = { what: 'CALL', subject: entryPoint, value: 9n }

    it('by the account, also through what it calls', () => {
      for (const how of HOWS) expect(rules({ account: { ...pay, how, via: stranger } })).toEqual([])
    })

    it('by the constructor', () => {
      expect(rules({ construct: pay })).toEqual([])
    })

    it('not by factory or paymaster', () => {
      expect(rules({ factory: pay })).toEqual(['OP-054'])
      expect(rules({ paymaster: pay, staked: ['paymaster'] })).toEqual(['OP-054'])
    })
  })

  describe('OP-055: incrementNonce', () => {
    const increment: Act = { what: 'CALL', subject: entryPoint, data: INCREMENT_NONCE }

    it('by the account and its constructor', () => {
      expect(rules({ account: increment })).toEqual([])
      expect(rules({ construct: increment })).toEqual([])
      const library = { ...increment, how: 'DELEGATECALL', via: stranger } as const
      expect(rules({ account: library })).toEqual([])
    })

    it('by nobody else', () => {
      const helper = { ...increment, how: 'CALL', via: stranger } as const
      expect(rules({ account: helper })).toEqual(['OP-054'])
      expect(rules({ factory: increment })).toEqual(['OP-054'])
      expect(rules({ paymaster: increment })).toEqual(['OP-054'])
    })
  })

  it('OP-020 counts in the EntryPoint too', () => {
    const pay = { what: 'CALL', subject: entryPoint, gas: 1_000n }
    expect(rules({ account: pay })).toEqual(['OP-020'])
  })

  it('COD-010 watches what has code, not precompiles', () => {
    const visited = (act: Act) => [...fixture.check({ account: act }).visitedCode.keys()]
    expect(visited({ what: 'STATICCALL', subject: addressOf(2) })).toEqual([account])
    expect(visited({ what: 'EXTCODEHASH', subject: stranger })).toEqual([account, stranger])
    expect(visited({ what: 'CALL', subject: entryPoint, value: 1n })).toEqual([account])
  })
})
