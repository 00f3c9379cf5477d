import type { Address, Hex } from 'viem'
import { readAbi } from '../../encoding/abiReader.js'
import { MAX_UINT256 } from '../../encoding/constants.js'
import { decodeCalls, isNesting } from '../../policy/decodeCalls.js'

/** approve(address,uint256) and increaseAllowance(address,uint256) */
const APPROVE = '0x095ea7b3'
const INCREASE_ALLOWANCE = '0x39509351'

/**
 * The token units that `spender` may take of `token` after the account's calls, given the allowance
 * before them; undefined where the calls cannot be read, so that only running them shows it.
 */
export function approvedBy(
  callData: Hex,
  token: Address,
  spender: Address,
  allowance: bigint,
): bigint | undefined {
  const calls = decodeCalls(callData)
  if (calls === undefined || calls.some((call) => call.delegate || isNesting(call)))
    return undefined
  return calls
    .filter(({ to }) => to === token)
    .reduce((approved, { data }) => afterCall(approved, data, spender), allowance)
}

function afterCall(allowance: bigint, data: Hex, spender: Address): bigint {
  const approved = amountFor(spender, data, APPROVE)
  if (approved !== undefined) return approved
  const amount = amountFor(spender, data, INCREASE_ALLOWANCE) ?? 0n
  return amount > MAX_UINT256 - allowance ? MAX_UINT256 : allowance + amount
}

/**
 * The token units that a call of `selector` names for `spender`; undefined = another function, another
 * spender, or arguments that make no sense.
 */
function amountFor(spender: Address, data: Hex, selector: Hex): bigint | undefined {
  if (!data.startsWith(selector)) return undefined
  return readAbi(data, selector, (reader) =>
    reader.address(0) === spender ? reader.uint(32) : undefined,
  )
}
