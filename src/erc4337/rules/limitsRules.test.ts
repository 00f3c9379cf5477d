import { describe, expect, it } from 'vitest'
import { ruleFixtures, rulesOf, type Scenario } from '../../../test/support/erc7562/ruleFixture.js'
import { createAddress } from '../../evm/index.js'
import { limitProfiles, type RuleLimits } from './index.js'

const { canonical, lenient } = limitProfiles

describe.each(ruleFixtures())('contexts on EntryPoint %s', (_, fixture) => {
  const context = (bytes: number): Scenario => ({
    paymaster: { what: 'CONTEXT', value: BigInt(bytes) },
  })
  const staked = ['paymaster'] as const

  it('EREP-050: only a staked paymaster may return one', () => {
    const { violations, contextSize } = fixture.check(context(1))
    expect(violations).toMatchObject([
      { rule: 'EREP-050', entity: 'paymaster', stakeNeeded: { role: 'paymaster' } },
    ])
    expect(contextSize).toBe(1)
    expect(fixture.check({ ...context(33), staked })).toMatchObject({
      violations: [],
      contextSize: 33,
    })
    expect(rulesOf(fixture.check(context(0)))).toEqual([])
    expect(rulesOf(fixture.check({ ...context(1), staked: ['account'] }))).toEqual(['EREP-050'])
  })

  it('LIM-020: of at most so many bytes', () => {
    const limits: RuleLimits = { ...lenient, maxContextSize: canonical.maxContextSize }
    expect(rulesOf(fixture.check({ ...context(2_048), staked, limits }))).toEqual([])
    const { violations } = fixture.check({ ...context(2_049), staked, limits })
    expect(violations).toMatchObject([{ rule: 'LIM-020', entity: 'paymaster' }])
    expect(rulesOf(fixture.check({ ...context(2_049), staked }))).toEqual([])
  })
})

describe.each(ruleFixtures())('verification slack on EntryPoint %s', (version, fixture) => {
  const sharesLimit = version === 'v0.6'
  const scenario: Scenario = { deploys: {}, paymaster: { what: 'CHAINID' } }
  const usedBy = (roles: readonly string[]): bigint => {
    const spent = fixture.check(scenario).entities.filter(({ role }) => roles.includes(role))
    return spent.reduce((sum, { gasUsed }) => sum + BigInt(gasUsed), 0n)
  }
  /** The EntryPoint's own gas comes out of the limits too: a tight one would fail on chain. */
  const margin = 100_000n
  const violationsOf = (fields: Scenario['fields'] & object, verificationGasSlack: bigint) =>
    fixture.check({ ...scenario, fields, limits: { ...lenient, verificationGasSlack } }).violations

  it('counts SenderCreator to the deployment', () => {
    const { root } = fixture.chain.handleOps(fixture.operation(scenario)).record!
    const creator = createAddress(fixture.chain.entryPoint.address, 1n)
    const { gasUsed } = root.calls.find(({ to }) => to === creator)!
    expect(usedBy(['factory'])).toBe(BigInt(gasUsed))
  })

  it('LIM-030: verificationGasLimit, which on v0.6 is for the paymaster too', () => {
    const roles = ['factory', 'account', ...(sharesLimit ? ['paymaster'] : [])]
    const fields = { verificationGasLimit: usedBy(roles) + margin }
    expect(violationsOf(fields, margin)).toEqual([])
    expect(violationsOf(fields, margin + 1n)).toMatchObject([
      { rule: 'LIM-030', entity: 'account', field: 'verificationGasLimit' },
    ])
  })

  it.skipIf(sharesLimit)('LIM-030: paymasterVerificationGasLimit', () => {
    const fields = { paymasterVerificationGasLimit: usedBy(['paymaster']) + margin }
    expect(violationsOf(fields, margin)).toEqual([])
    expect(violationsOf(fields, margin + 1n)).toMatchObject([
      { rule: 'LIM-030', entity: 'paymaster', field: 'paymasterVerificationGasLimit' },
    ])
  })
})
