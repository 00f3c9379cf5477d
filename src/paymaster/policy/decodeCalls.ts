import type { Address, Hex } from 'viem'
import { size, sliceHex, toFunctionSelector } from 'viem/utils'
import { remembered } from '../../base/remembered.js'
import { readAttribution } from '../../erc4337/attribution.js'
import type { Draft } from '../../erc4337/draft.js'
import {
  readBatch,
  readBatchOfStructs,
  readBatchWithoutValues,
  readDelegateCall,
  readExecute,
  readExecuteStruct,
  readModeExecute,
  readWithOperation,
} from './calls/accountCalls.js'
import type { DecodedCall, ReadCalls } from './calls/call.js'
import { MOST_REDEEMED, redemptionsOf } from './calls/redemptions.js'

export type { DecodedCall } from './calls/call.js'
export { MOST_REDEEMED, redemptionsOf } from './calls/redemptions.js'

/** The functions by which the common accounts receive their calls. */
const forms: readonly [signature: string, read: ReadCalls][] = [
  ['execute(address,uint256,bytes)', readExecute],
  ['execute_ncC(address,uint256,bytes)', readExecute],
  ['executeBatch(address[],bytes[])', readBatchWithoutValues],
  ['executeBatch(address[],uint256[],bytes[])', readBatch],
  ['executeBatch_y6U(address[],uint256[],bytes[])', readBatch],
  ['executeBatch((address,uint256,bytes)[])', readBatchOfStructs],
  ['execute(address,uint256,bytes,uint8)', readWithOperation],
  ['executeDelegateCall(address,bytes)', readDelegateCall],
  ['executeUserOp(address,uint256,bytes,uint8)', readWithOperation],
  ['executeUserOpWithErrorString(address,uint256,bytes,uint8)', readWithOperation],
  ['execute((address,uint256,bytes))', readExecuteStruct],
  ['execute(bytes32,bytes)', readModeExecute],
]

const readers: ReadonlyMap<Hex, ReadCalls> = new Map(
  forms.map(([signature, read]) => [toFunctionSelector(signature), read]),
)

/**
 * The selector of executeUserOp (IAccountExecute, v0.7 and later); the call to the account follows
 * it.
 */
const EXECUTE_USER_OP: Hex = '0x8dd7712f'

/**
 * The calls that an account makes by its call data; undefined for call data that we cannot read. Only the canonical
 * encoding is read, and behind it nothing but data suffixes of ERC-8021. No encoding has another one as its
 * beginning, so a suffix is never taken for part of a call, nor the reverse.
 */
export function decodeCalls(callData: Hex): readonly DecodedCall[] | undefined {
  if (callData === '0x') return []
  const wrapped = callData.startsWith(EXECUTE_USER_OP) && size(callData) > 4
  const inner = wrapped ? sliceHex(callData, 4) : callData
  const read = size(inner) > 4 ? readers.get(sliceHex(inner, 0, 4)) : undefined
  let args: Hex | undefined = read && sliceHex(inner, 4)
  for (let suffixes = 0; read && args && suffixes <= MOST_SUFFIXES; suffixes++) {
    const calls = read(args)
    if (calls !== undefined) return calls.length > MOST_CALLS ? undefined : calls
    args = readAttribution(args)?.rest
  }
  return undefined
}

/** Wallet and app may each append a suffix. */
const MOST_SUFFIXES = 2
const MOST_CALLS = 2_000

const decoded = remembered((draft: Pick<Draft, 'callData'>) => ({
  calls: decodeCalls(draft.callData),
}))

/** `decodeCalls` of an operation, made once however many policies ask for it. */
export function callsOf(draft: Pick<Draft, 'callData'>): readonly DecodedCall[] | undefined {
  return decoded(draft).calls
}

const multicalls = [
  'multicall(bytes[])',
  'multicall(uint256,bytes[])',
  'multicall(bytes32,bytes[])',
  'aggregate((address,bytes)[])',
  'tryAggregate(bool,(address,bytes)[])',
  'blockAndAggregate((address,bytes)[])',
  'tryBlockAndAggregate(bool,(address,bytes)[])',
  'aggregate3((address,bool,bytes)[])',
  'aggregate3Value((address,bool,uint256,bytes)[])',
  'multiSend(bytes)',
  'executeFromExecutor(bytes32,bytes)',
  'redeemDelegations(bytes[],bytes32[],bytes[])',
]

const nesting: ReadonlySet<Hex> = new Set<Hex>([
  ...multicalls.map((signature) => toFunctionSelector(signature)),
  ...readers.keys(),
  EXECUTE_USER_OP,
])

/** Whether the call makes further calls, which its own target and selector do not show. */
export function isNesting({ data }: DecodedCall): boolean {
  return size(data) >= 4 && nesting.has(sliceHex(data, 0, 4))
}

/**
 * The accounts for which an operation redeems delegations, each once and without the sender itself; undefined where it
 * makes calls that cannot be looked into, which may redeem any.
 */
export function delegatorsOf(draft: Pick<Draft, 'callData'>): readonly Address[] | undefined {
  const found = new Set<Address>()
  const visit = (calls: readonly DecodedCall[] | undefined, depth: number): boolean =>
    calls?.every((call) => {
      if (!isNesting(call)) return !call.delegate
      return (
        depth < MOST_REDEEMED &&
        redemptionsOf(call)?.every(({ delegator, calls }) => {
          if (delegator !== undefined) found.add(delegator)
          return visit(calls, depth + 1)
        })
      )
    }) ?? false
  return visit(callsOf(draft), 0) ? [...found] : undefined
}
