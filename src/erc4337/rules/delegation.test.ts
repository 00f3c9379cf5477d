import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../test/evm/harness.js'
import {
  type Act,
  actCall,
  actorInitcode,
  makeCall,
  script,
} from '../../../test/support/erc7562/actor.js'
import {
  checkRun,
  type RuleFixture,
  requireSuccess,
  ruleFixtures,
  rulesOf,
  type Scenario,
} from '../../../test/support/erc7562/ruleFixture.js'
import { create2Address, fromHex } from '../../evm/index.js'
import { DELEGATION_MARKER } from '../delegation.js'

/** An EIP-7702 account that runs an actor's code, with a deposit. */
function delegated({ chain, stranger }: RuleFixture, number: number): Address {
  const address = chain.place(`0xef0100${stranger.slice(2)}`, addressOf(number))
  chain.deposit(address)
  return address
}

describe.each(ruleFixtures())('EIP-7702 accounts on EntryPoint %s', (version, fixture) => {
  const { chain, stranger, account } = fixture
  const sender = delegated(fixture, 0xe0a001)
  const other = delegated(fixture, 0xe0a002)
  const rules = (scenario: Scenario) => rulesOf(fixture.check(scenario))

  it('may be the sender, and be called by its paymaster', () => {
    const paymaster = { what: 'CALL', subject: sender }
    const scenario = { account: { what: 'SSTORE' }, paymaster, fields: { sender } }
    const verdict = fixture.check(scenario)
    expect(verdict.violations).toEqual([])
    expect(verdict.visitedCode.get(stranger)).toEqual({ role: 'account', address: sender })
  })

  it('AUTH-020: may not be the paymaster', () => {
    const packed = version !== 'v0.6'
    const paymasterVerificationGasLimit = packed ? 100_000n : 0n
    const fields = { paymaster: other, paymasterData: '0x' as Hex, paymasterVerificationGasLimit }
    for (const staked of [[], ['paymaster']] as const) {
      const { violations } = fixture.check({ fields, staked })
      expect(violations).toMatchObject([
        { rule: 'AUTH-020', entity: 'paymaster', address: other, contract: stranger },
      ])
    }
  })

  it('AUTH-020: may not be the factory', () => {
    const initcode = actorInitcode()
    const made = create2Address(other, 0n, fromHex(initcode))
    chain.deposit(made)
    const fields = { sender: made, factory: other, factoryData: makeCall({ initcode }) }
    const op = fixture.operation({ fields })
    const { violations } = checkRun(chain, op, requireSuccess(chain, chain.handleOps(op)))
    expect(violations).toMatchObject([
      { rule: 'AUTH-020', entity: 'factory', address: other, contract: stranger },
    ])
  })

  it.each([
    'CALL',
    'CALLCODE',
    'DELEGATECALL',
    'STATICCALL',
    'EXTCODESIZE',
    'EXTCODEHASH',
    'EXTCODECOPY',
  ])('AUTH-030: no %s of one that is not the sender', (what) => {
    for (const role of ['account', 'factory', 'paymaster'] as const) {
      const { violations } = fixture.check({ [role]: { what, subject: other } })
      expect(violations).toMatchObject([{ rule: 'AUTH-030', entity: role, contract: other }])
    }
    expect(rules({ account: { what, subject: account } })).toEqual([])
  })

  describe.runIf(version === 'v0.8' || version === 'v0.9')('with initialization', () => {
    const checkInit = (init: Act, validation?: Act) => {
      const op = {
        ...fixture.operation({ fields: { sender, signature: script(validation) } }),
        factory: DELEGATION_MARKER,
        factoryData: actCall(init),
      }
      const run = requireSuccess(chain, chain.handleOps(op))
      return checkRun(chain, op, run, { senderExists: true })
    }

    it('the account answers for it, and no factory', () => {
      const { violations, entities } = checkInit({ what: 'TIMESTAMP' })
      expect(violations).toMatchObject([{ rule: 'OP-011', entity: 'account', address: sender }])
      expect(entities.map(({ role }) => role)).toEqual(['account', 'account'])
    })

    it('its own and its associated storage is open', () => {
      expect(checkInit({ what: 'SSTORE' }).violations).toEqual([])
      const abroad = { what: 'SSTORE OF', how: 'CALL', via: account, subject: sender } as const
      expect(checkInit(abroad, abroad).violations).toEqual([])
    })

    it('creates nothing', () => {
      expect(rulesOf(checkInit({ what: 'CREATE' }))).toEqual(['OP-011'])
      expect(rulesOf(checkInit({ what: 'CREATE2' }))).toEqual(['OP-031'])
    })
  })
})
