import { encodeEthCall } from '../../chain/ethCall.js'
import type { BlockId } from '../../chain/head.js'
import type { NodeCall } from '../../chain/jsonRpc.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type Fork, toHex } from '../../evm/index.js'
import { handleOpsCall, handlerOverride } from '../inProcess/simulateOperation.js'
import { mergeOverrides } from '../mergeOverrides.js'

/** What a block pretends to be; absent = what it is. */
export type PretendedBlock = {
  /** Unix seconds */
  readonly time?: number
  readonly number?: bigint
}

export type TraceOptions = {
  /** A tracer's name or source. */
  readonly tracer: string
  readonly tracerConfig?: unknown
  readonly block: BlockId
  readonly fork: Fork
  /** The state to pretend, the operation's authorization included. */
  readonly override: StateOverride
  /** Absent = the block as it is. */
  readonly pretended?: PretendedBlock | undefined
}

/**
 * The debug_traceCall of handleOps with this one operation: the very message that our EVM runs, with the
 * same sender and gas and without fees.
 */
export function traceRequest(
  entryPoint: EntryPoint,
  op: Operation,
  { tracer, tracerConfig, block, fork, override, pretended }: TraceOptions,
): NodeCall {
  const { from, to, data, gas, accessList } = handleOpsCall(entryPoint, op, { fork })
  const call = { from, to, data: toHex(data), gas: BigInt(gas) }
  const [transaction, at] = encodeEthCall(call, block).params
  const message = accessList === undefined ? transaction : { ...Object(transaction), accessList }
  const options = {
    tracer,
    ...(tracerConfig === undefined ? {} : { tracerConfig }),
    stateOverrides: mergeOverrides(handlerOverride, override),
    ...(pretended && { blockOverrides: encodeBlock(pretended) }),
  }
  return { method: 'debug_traceCall', params: [message, at, options] }
}

function encodeBlock({ time, number }: PretendedBlock) {
  return {
    ...(time === undefined ? {} : { time: `0x${time.toString(16)}` }),
    ...(number === undefined ? {} : { number: `0x${number.toString(16)}` }),
  }
}
