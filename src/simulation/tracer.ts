import { encodeEthCall, type StateOverride } from '../chain/ethCall.js'
import type { BlockId } from '../chain/head.js'
import type { NodeCall } from '../chain/jsonRpc.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { type Fork, toHex } from '../evm/index.js'
import { checkOperation, checkOverride } from './check/selfCheck.js'
import { mergeOverrides } from './evmOverrides.js'
import { handleOpsCall, handlerOverride } from './inProcess/simulateOperation.js'
import { collectorSource } from './trace/collector.js'
import { isTrace } from './trace/toRecord.js'

/** What a block pretends to be; absent = what it is. */
export type PretendedBlock = {
  /** Unix seconds */
  readonly time?: number
  readonly number?: bigint
}

type TraceOptions = {
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

/** The tracer that collects the facts for the rules on a node: geth's own, or our script. */
export type Tracer = 'native' | 'script'

/** The `tracer` parameter of debug_traceCall. */
export function tracerParameter(tracer: Tracer, { address, callLayout }: EntryPoint): string {
  return tracer === 'native' ? 'erc7562Tracer' : collectorSource(address, callLayout.innerHandleOp)
}

/**
 * The tracer that works on the node, tried by an operation that needs nothing but the EntryPoint; the
 * native one first, as it costs the node a fraction. Undefined where the node has none, or no debug
 * methods.
 */
export async function findTracer(
  node: NodeClient,
  entryPoint: EntryPoint,
): Promise<Tracer | undefined> {
  const tracers: readonly Tracer[] = ['native', 'script']
  const options = { block: 'latest', override: checkOverride, fork: 'shanghai' } as const
  const answers = await node.batch(
    tracers.map((tracer) => {
      const parameter = tracerParameter(tracer, entryPoint)
      return traceRequest(entryPoint, checkOperation, { ...options, tracer: parameter })
    }),
  )
  return tracers.find((_, at) => {
    const answer = answers[at]
    return answer?.ok === true && isTrace(answer.result) && (answer.result.calls ?? []).length > 0
  })
}
