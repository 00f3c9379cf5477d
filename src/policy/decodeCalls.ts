import type { Hex } from 'viem'
import { size, sliceHex, toFunctionSelector } from 'viem/utils'
import { remembered } from '../base/remembered.js'
import type { Draft } from '../entrypoint/draft.js'
import type { DecodedCall, ReadCalls } from './calls/call.js'
import { readErc7579 } from './calls/erc7579Calls.js'
import {
  readBatch,
  readBatchOfStructs,
  readBatchWithoutValues,
  readDelegateCall,
  readExecute,
} from './calls/executeCalls.js'
import { readWithOperation } from './calls/safeCalls.js'

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
  ['execute(bytes32,bytes)', readErc7579],
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
 * The calls that an account makes by its call data; undefined for call data that we cannot read.
 */
export function decodeCalls(callData: Hex): readonly DecodedCall[] | undefined {
  if (callData === '0x') return []
  if (size(callData) < 4) return undefined
  const wrapped = callData.startsWith(EXECUTE_USER_OP) && size(callData) > 4
  const inner = wrapped ? sliceHex(callData, 4) : callData
  if (size(inner) <= 4) return undefined
  return readers.get(sliceHex(inner, 0, 4))?.(sliceHex(inner, 4))
}

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
