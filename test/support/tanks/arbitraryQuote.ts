import fc from 'fast-check'
import type { Hex } from 'viem'
import type { Permit, TokenQuote } from '../../../src/paymaster/tokenData.js'
import { address, timeRange, uint } from './arbitraryOperation.js'

export const signature: fc.Arbitrary<Hex> = fc
  .uint8Array({ minLength: 65, maxLength: 65 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

export const quote: fc.Arbitrary<TokenQuote> = fc
  .record({
    mode: fc.constantFrom('prefund' as const, 'afterwards' as const, 'permit' as const),
    token: address,
    rate: uint(256),
    markup: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    postOpGas: uint(32),
    treasury: address,
    range: timeRange,
  })
  .map(({ range, ...terms }) => ({ ...terms, ...range }))

const permit: fc.Arbitrary<Permit> = fc.record({
  value: uint(256),
  deadline: uint(256),
  signature,
})

/** The permit that data of `quote` needs. */
export function permitFor({ mode }: TokenQuote): fc.Arbitrary<Permit | undefined> {
  return mode === 'permit' ? permit : fc.constant(undefined)
}
