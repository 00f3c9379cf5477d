import { describe, expect, it } from 'vitest'
import { type Play, rulesOf, stages } from '../../../test/support/erc7562/stage.js'
import { createAddress } from '../../evm/index.js'
import { limitProfiles, type RuleLimits } from './index.js'

const { canonical, lenient } = limitProfiles

describe.each(stages())('contexts on EntryPoint %s', (_, stage) => {
  const context = (bytes: number): Play => ({
    paymaster: { what: 'CONTEXT', value: BigInt(bytes) },
  })
  const staked = ['paymaster'] as const

  it('EREP-050: only a staked paymaster may return one', () => {
    const { violations, contextSize } = stage.perform(context(1))
    expect(violations).toMatchObject([
      { rule: 'EREP-050', entity: 'paymaster', stakeNeeded: { role: 'paymaster' } },
    ])
    expect(contextSize).toBe(1)
    expect(stage.perform({ ...context(33), staked })).toMatchObject({
      violations: [],
      contextSize: 33,
    })
    expect(rulesOf(stage.perform(context(0)))).toEqual([])
    expect(rulesOf(stage.perform({ ...context(1), staked: ['account'] }))).toEqual(['EREP-050'])
  })

  it('LIM-020: of at most so many bytes', () => {
    const limits: RuleLimits = { ...lenient, maxContextSize: canonical.maxContextSize }
    expect(rulesOf(stage.perform({ ...context(2_048), staked, limits }))).toEqual([])
    const { violations } = stage.perform({ ...context(2_049), staked, limits })
    expect(violations).toMatchObject([{ rule: 'LIM-020', entity: 'paymaster' }])
    expect(rulesOf(stage.perform({ ...context(2_049), staked }))).toEqual([])
  })
})

describe.each(stages())('verification slack on EntryPoint %s', (version, stage) => {
  const sharesLimit = version === 'v0.6'
  const play: Play = { deploys: {}, paymaster: { what: 'CHAINID' } }
  const usedBy = (roles: readonly string[]): bigint => {
    const spent = stage.perform(play).entities.filter(({ role }) => roles.includes(role))
    return spent.reduce((sum, { gasUsed }) => sum + BigInt(gasUsed), 0n)
  }
  /** The EntryPoint's own gas comes out of the limits too: a tight one would fail on chain. */
  const margin = 100_000n
  const judged = (fields: Play['fields'] & object, verificationGasSlack: bigint) =>
    stage.perform({ ...play, fields, limits: { ...lenient, verificationGasSlack } }).violations

  it('counts SenderCreator to the deployment', () => {
    const { root } = stage.world.handleOps(stage.operation(play)).record!
    const creator = createAddress(stage.world.entryPoint.address, 1n)
    const { gasUsed } = root.calls.find(({ to }) => to === creator)!
    expect(usedBy(['factory'])).toBe(BigInt(gasUsed))
  })

  it('LIM-030: verificationGasLimit, which on v0.6 is for the paymaster too', () => {
    const roles = ['factory', 'account', ...(sharesLimit ? ['paymaster'] : [])]
    const fields = { verificationGasLimit: usedBy(roles) + margin }
    expect(judged(fields, margin)).toEqual([])
    expect(judged(fields, margin + 1n)).toMatchObject([
      { rule: 'LIM-030', entity: 'account', field: 'verificationGasLimit' },
    ])
  })

  it.skipIf(sharesLimit)('LIM-030: paymasterVerificationGasLimit', () => {
    const fields = { paymasterVerificationGasLimit: usedBy(['paymaster']) + margin }
    expect(judged(fields, margin)).toEqual([])
    expect(judged(fields, margin + 1n)).toMatchObject([
      { rule: 'LIM-030', entity: 'paymaster', field: 'paymasterVerificationGasLimit' },
    ])
  })
})
