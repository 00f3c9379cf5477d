import fc from 'fast-check'
import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem'
import { PLAYGROUND, playgroundData } from './playground.js'

export type AccountCall = { readonly to: Address; readonly value: bigint; readonly data: Hex }

/** The most wei that one call sends. */
export const MOST_VALUE = 1_000_000n

const receiver = fc
  .bigInt({ min: 0x1000_0000n, max: 0xffff_ffff_ffffn })
  .map((number) => numberToHex(number, { size: 20 }))
const value = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: MOST_VALUE }))
const played = fc.oneof(
  fc
    .tuple(fc.bigInt({ min: 1n, max: 12n }), fc.bigInt({ min: 0n, max: 3n }))
    .map(([count, cell]) => {
      return playgroundData.write(count, cell)
    }),
  fc.bigInt({ min: 0n, max: 60_000n }).map(playgroundData.swallow),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 6n }), fc.bigInt({ min: 0n, max: 150_000n }))
    .map(([depth, gasLeft]) => playgroundData.nested(depth, gasLeft)),
)

/** One to six calls: transfers of wei and of `token`, approvals, writes, refusals that are swallowed, bytes. */
export function arbitraryCalls(token: Address): fc.Arbitrary<AccountCall[]> {
  const amount = fc.bigInt({ min: 0n, max: 1_000n })
  const tokenCall = fc
    .tuple(fc.constantFrom('transfer' as const, 'approve' as const), receiver, amount)
    .map(([functionName, to, units]) => ({
      to: token,
      value: 0n,
      data: encodeFunctionData({ abi: erc20Abi, functionName, args: [to, units] }),
    }))
  const bytes = fc.uint8Array({ maxLength: 600 }).map((data): Hex => {
    return `0x${Buffer.from(data).toString('hex')}`
  })
  const transfer = fc.record({ to: receiver, value, data: bytes })
  const playing = fc.record({ to: fc.constant(PLAYGROUND), value, data: played })
  return fc.array(fc.oneof(tokenCall, transfer, playing), { minLength: 1, maxLength: 6 })
}
