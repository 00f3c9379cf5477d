import { describe, expect, it } from 'vitest'
import { isStaked } from './stakes.js'

const policy = { minimumStake: 100n, minimumUnstakeDelay: 86_400n }

describe('SREP-010', () => {
  it.each([
    [{ stake: 100n, unstakeDelay: 86_400n }, true],
    [{ stake: 10_000n, unstakeDelay: 1_000_000n }, true],
    [{ stake: 99n, unstakeDelay: 86_400n }, false],
    [{ stake: 100n, unstakeDelay: 86_399n }, false],
    [undefined, false],
  ])('%o is staked: %s', (stake, staked) => {
    expect(isStaked(stake, policy)).toBe(staked)
  })
})
