import { describe, expect, it } from 'vitest'
import { countsAsStaked, isStaked } from './stakes.js'

const policy = { minimumStake: 100n, minimumUnstakeDelay: 86_400n }
const undemanding = { minimumStake: 0n, minimumUnstakeDelay: 0n }

describe('SREP-010', () => {
  it.each([
    [{ stake: 100n, unstakeDelay: 86_400n }, true],
    [{ stake: 10_000n, unstakeDelay: 1_000_000n }, true],
    [{ stake: 99n, unstakeDelay: 86_400n }, false],
    [{ stake: 100n, unstakeDelay: 86_399n }, false],
    [undefined, false],
  ])('%o is staked: %s', (stake, staked) => {
    expect(isStaked(stake, policy)).toBe(staked)
    expect(countsAsStaked(stake, policy)).toBe(staked)
  })

  it('is not reached without a stake, whatever a policy lets entities do without one', () => {
    const nothing = { stake: 0n, unstakeDelay: 0n }
    expect(isStaked(nothing, undemanding)).toBe(false)
    expect(countsAsStaked(nothing, undemanding)).toBe(true)
    expect(isStaked({ ...nothing, stake: 1n }, undemanding)).toBe(true)
  })
})
