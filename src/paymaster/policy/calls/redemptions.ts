import type { Address, Hex } from 'viem'
import { sliceHex, toFunctionSelector } from 'viem/utils'
import { remembered } from '../../../base/remembered.js'
import { decodeCanonical } from '../../../erc4337/encoding/decodeParameters.js'
import { readExecution } from './accountCalls.js'
import { type DecodedCall, plainCall } from './call.js'

/** Calls that an account makes for another one, which has delegated them (ERC-7710). */
export type Redemption = {
  /** The account that makes the calls; undefined = the redeemer itself. */
  readonly delegator: Address | undefined
  readonly calls: readonly DecodedCall[]
  /** The contracts that the delegations have asked before and after: one call stands for all hooks of each. */
  readonly enforcers: readonly DecodedCall[]
}

/** Delegations that are redeemed through others. */
export const MOST_REDEEMED = 4

/** redeemDelegations(bytes[],bytes32[],bytes[]) */
const redeemSelector = toFunctionSelector('redeemDelegations(bytes[],bytes32[],bytes[])')

const redeemed = [{ type: 'bytes[]' }, { type: 'bytes32[]' }, { type: 'bytes[]' }] as const

/** The permission context of MetaMask's DelegationManager: delegations from leaf to root. */
const delegations = [
  {
    type: 'tuple[]',
    components: [
      { name: 'delegate', type: 'address' },
      { name: 'delegator', type: 'address' },
      { name: 'authority', type: 'bytes32' },
      {
        name: 'caveats',
        type: 'tuple[]',
        components: [
          { name: 'enforcer', type: 'address' },
          { name: 'terms', type: 'bytes' },
          { name: 'args', type: 'bytes' },
        ],
      },
      { name: 'salt', type: 'uint256' },
      { name: 'signature', type: 'bytes' },
    ],
  },
] as const

/** beforeHook(bytes,bytes,bytes32,bytes,bytes32,address,address) of a caveat's enforcer */
const beforeHook = toFunctionSelector(
  'beforeHook(bytes,bytes,bytes32,bytes,bytes32,address,address)',
)

const read = remembered(({ data, delegate }: DecodedCall) => {
  if (delegate || !data.startsWith(redeemSelector)) return { redemptions: undefined }
  const [contexts = [], modes = [], executions = []] =
    (data.length > 10 && decodeCanonical(redeemed, sliceHex(data, 4))) || []
  const hasAll = contexts.length === modes.length && modes.length === executions.length
  const redemptions = contexts.map((context, at) =>
    readRedemption(context, modes[at] ?? '0x', executions[at] ?? '0x'),
  )
  const isRead = hasAll && redemptions.every((each) => each !== undefined)
  return { redemptions: isRead && redemptions.length > 0 ? redemptions : undefined }
})

/** The delegations that a call redeems; undefined = it redeems none, or some that cannot be read. */
export function redemptionsOf(call: DecodedCall): readonly Redemption[] | undefined {
  return read(call).redemptions
}

function readRedemption(context: Hex, mode: Hex, execution: Hex): Redemption | undefined {
  const [chain] = decodeCanonical(delegations, context) ?? []
  const calls = readExecution(mode, execution)
  if (chain === undefined || calls === undefined) return undefined
  const enforcers = chain.flatMap(({ caveats }) => caveats.map(({ enforcer }) => enforcer))
  return {
    delegator: chain.at(-1)?.delegator,
    calls,
    enforcers: enforcers.map((enforcer) => plainCall(enforcer, 0n, beforeHook)),
  }
}
