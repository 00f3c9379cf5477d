import type { Address, Hex } from 'viem'
import { decodeFunctionData, parseAbi } from 'viem/utils'
import { MAX_UINT256 } from '../../encoding/constants.js'
import { decodeCalls, isNesting } from '../../policy/decodeCalls.js'

const abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
])

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
  const call = readApproval(data)
  if (call?.args[0].toLowerCase() !== spender) return allowance
  const [, amount] = call.args
  if (call.functionName === 'approve') return amount
  return amount > MAX_UINT256 - allowance ? MAX_UINT256 : allowance + amount
}

/**
 * The call of an approving function; undefined = another function, or arguments that make no sense.
 */
function readApproval(data: Hex) {
  try {
    return decodeFunctionData({ abi, data })
  } catch {
    return undefined
  }
}
