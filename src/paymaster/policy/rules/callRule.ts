import type { AbiParameter, Address, Hex } from 'viem'
import { size, sliceHex } from 'viem/utils'
import type { Refusal } from '../../../base/errors/catalogue.js'
import { remembered } from '../../../base/remembered.js'
import { zeroAddress } from '../../../erc4337/encoding/constants.js'
import { decodeParameters } from '../../../erc4337/encoding/decodeParameters.js'
import type { DecodedCall } from '../calls/call.js'
import { argumentAt, meets } from '../calls/constraint.js'
import { MOST_REDEEMED, type Redemption, redemptionsOf } from '../calls/redemptions.js'
import { callsOf, isNesting } from '../decodeCalls.js'
import type { AllowedCall } from '../policy.js'
import type { CallTerms } from '../policySchema.js'
import type { PolicyRule } from './rule.js'

/**
 * Every call of the operation is one that the policy names; unreadable call data is not, unless
 * allowed.
 */
export const callRule: PolicyRule = ({ calls: terms }, { sender, draft }) => {
  if (terms === undefined) return undefined
  const calls = callsOf(draft)
  if (calls === undefined) return terms.allowUnknown ? undefined : unknown(draft.callData)
  return checkCalls(calls, terms, { self: sender, by: '', depth: 0 })
}

/** The account that makes calls, in words too, and how many delegations deep that is. */
type Caller = { readonly self: Address; readonly by: string; readonly depth: number }

function checkCalls(
  calls: readonly DecodedCall[],
  terms: CallTerms,
  caller: Caller,
): Refusal | undefined {
  for (const [index, call] of calls.entries()) {
    const refusal = checkCall(
      call,
      terms,
      caller,
      `call ${index + 1} of ${calls.length}${caller.by}`,
    )
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Checks the calls for each delegator like the redeemer's own, and so the enforcers that the delegations name. */
function checkRedeemed(
  redemptions: readonly Redemption[],
  terms: CallTerms,
  { self, depth }: Caller,
): Refusal | undefined {
  for (const { delegator = self, calls, enforcers } of redemptions) {
    const caller = { self: delegator, by: ` for delegator ${delegator}`, depth: depth + 1 }
    const refusal = checkCalls([...calls, ...enforcers], terms, caller)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function unknown(callData: Hex): Refusal {
  return {
    code: 'CALL_DATA_UNKNOWN',
    message: `the operation's call data (${callData.slice(0, 10)}…) is not of an account that can be read.`,
  }
}

function checkCall(
  call: DecodedCall,
  terms: CallTerms,
  caller: Caller,
  position: string,
): Refusal | undefined {
  if (call.delegate && !terms.allowDelegateCalls)
    return {
      code: 'DELEGATE_CALL_NOT_ALLOWED',
      message: `${position} is a delegatecall to ${call.to}.`,
    }
  const isLookedInto = isNesting(call) && !terms.allowNested
  const redemptions = caller.depth < MOST_REDEEMED ? redemptionsOf(call) : undefined
  if (isLookedInto && redemptions === undefined)
    return {
      code: 'NESTED_CALL_NOT_ALLOWED',
      message: `${position} makes further calls (${selectorOf(call)} of ${call.to}), which are not decoded.`,
    }
  if (
    selvesOf(call, caller.self).every((each) =>
      terms.allow.some((allowed) => isAllowed(each, allowed, caller.self)),
    )
  )
    return isLookedInto && redemptions ? checkRedeemed(redemptions, terms, caller) : undefined
  const name = call.data === '0x' ? 'transfer' : selectorOf(call)
  return {
    code: 'CALL_NOT_ALLOWED',
    message: `${position} (${name} to ${call.to}, value ${call.value} wei) is not among those that it pays for.`,
  }
}

/** Accounts of ERC-7821 call themselves where a call names the zero address; others call that address. */
function selvesOf(call: DecodedCall, self: Address): readonly DecodedCall[] {
  return call.to === zeroAddress ? [call, { ...call, to: self }] : [call]
}

function selectorOf({ data }: DecodedCall): string {
  return data.slice(0, 10)
}

function isAllowed(call: DecodedCall, allowed: AllowedCall, sender: Address): boolean {
  const { target, maxValue } = allowed
  if (target !== 'any' && call.to !== (target === 'sender' ? sender : target)) return false
  if (maxValue !== undefined && call.value > maxValue) return false
  if (allowed.function === undefined) return true
  if (allowed.function === null) return call.data === '0x'
  const { selector, inputs } = allowed.function
  if (size(call.data) < 4 || sliceHex(call.data, 0, 4) !== selector) return false
  if (inputs === undefined || allowed.where.length === 0) return true
  const values = argumentsOf(call, inputs)
  return (
    values !== undefined &&
    allowed.where.every(({ path, comparisons }) => {
      const value = argumentAt(inputs, values, path)?.value
      return value !== undefined && meets(value, comparisons)
    })
  )
}

type Inputs = readonly AbiParameter[]

const typesOf = remembered((inputs: Inputs) => JSON.stringify(inputs))
const decodedArguments = remembered(
  (_: DecodedCall) => new Map<string, readonly unknown[] | undefined>(),
)

/** The arguments of a call, read once however many policies constrain the same function. */
function argumentsOf(call: DecodedCall, inputs: Inputs): readonly unknown[] | undefined {
  if (size(call.data) === 4) return undefined
  const readings = decodedArguments(call)
  const types = typesOf(inputs)
  if (!readings.has(types)) readings.set(types, decodeParameters(inputs, sliceHex(call.data, 4)))
  return readings.get(types)
}
