import type { Address, Hex } from 'viem'
import { TraceRefusedError } from '../../base/errors/simulationErrors.js'
import type { ChainRules } from '../../chain/chainRules.js'
import { delegateOf } from '../../chain/delegations.js'
import type { BlockId, Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import type { StateProvider } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { refusedPadding } from '../../erc4337/rules/index.js'
import {
  type ExecutionRecord,
  type FrameRecord,
  precompilesOf,
  type State,
  toHex,
} from '../../evm/index.js'
import type { StateOverride } from '../engine.js'
import { authorizationOverride, mergeOverrides } from '../evmOverrides.js'
import { type Observation, validationEnd } from '../inProcess/observeOperation.js'
import type { RecordedExecution } from '../inProcess/observeRecord.js'
import { stateFor } from '../inProcess/simulateOperation.js'
import { readEntities } from '../node/entityState.js'
import { type PretendedBlock, type Tracer, traceRequest, tracerParameter } from '../tracer.js'
import { isTrace, type TracedFrame, toRecord, visitedAddresses } from './toRecord.js'

/** A node that traces, and the rules by which its chain runs contracts. */
export type TracingNode = {
  readonly node: NodeClient
  readonly state: Pick<StateProvider, 'rulesOf'>
  readonly tracer: Tracer
}

/** An operation to be traced. */
export type TracedOperation = TracingNode & {
  readonly entryPoint: EntryPoint
  readonly op: Operation
  readonly override: StateOverride
}

/** A traced operation: the record of it, and the state that the rules need. */
export type TraceResult = Omit<RecordedExecution, 'blockHash'> & {
  readonly head: Head
  /** The state without what is pretended. */
  readonly known: State
  readonly observed: ObservedCalls
  /** Return data or revert data of handleOps. */
  readonly output: Uint8Array
}

/**
 * A trace of handleOps with this one operation on the block `head`, and the state that the rules need:
 * two requests, three where the operation met a delegated account.
 */
export async function traceOperation(
  context: TracedOperation,
  head: Head,
  pretended?: PretendedBlock,
): Promise<TraceResult> {
  const { entryPoint, op, override } = context
  const rules = await context.state.rulesOf(head)
  const block = rules.readsByHash ? head.hash : head.number
  const traced = await trace(context, rules, block, pretended)
  const known = await readEntities(context, visitedAddresses(traced), head, block)
  const state = stateFor(known, op, override)
  const record = recordOf(traced, state, rules)
  const observed = observeCalls(entryPoint, op, record.root)
  const output = observed.refused ?? record.root.output
  return { head, known, state, record, observed, fork: rules.fork, output }
}

async function trace(
  { node, tracer, entryPoint, op, override }: TracedOperation,
  { fork }: ChainRules,
  block: BlockId,
  pretended: PretendedBlock | undefined,
): Promise<TracedFrame> {
  const request = traceRequest(entryPoint, op, {
    block,
    fork,
    pretended,
    tracer: tracerParameter(tracer, entryPoint),
    override: mergeOverrides(authorizationOverride(op), override),
  })
  const [answer] = await node.batch([request])
  if (answer?.ok && isTrace(answer.result)) return answer.result
  if (answer?.ok === false) throw new TraceRefusedError(answer.error)
  throw new NodeUnavailableError('debug_traceCall')
}

function recordOf(traced: TracedFrame, state: State, rules: ChainRules): ExecutionRecord {
  const { fork, chainPrecompiles, unknownPrecompiles } = rules
  return toRecord(traced, (address: Address) => {
    const number = Number(address)
    const precompile =
      precompilesOf(fork).has(number) ||
      chainPrecompiles?.has(number) === true ||
      unknownPrecompiles?.has(address) === true
    const code = state.account(address)?.code
    return { precompile, delegate: code && delegateOf(toHex(code.subarray(0, 24))) }
  })
}

/** The answers of account and paymaster, and the end of validation if it was reached. */
type ObservedCalls = Pick<Observation, 'accountData' | 'paymasterData' | 'refused' | 'validated'>

/** A call of the EntryPoint, as any tracer reports it. */
type EntryPointCall = Pick<FrameRecord, 'input' | 'output'> & {
  readonly to: Address | undefined
  /** Undefined = it succeeded. */
  readonly error: unknown
}

/** The answers that the calls in the EntryPoint's frame show. */
export function observeCalls(
  { address, callLayout }: Pick<EntryPoint, 'address' | 'callLayout'>,
  { sender, paymaster }: Pick<Operation, 'sender' | 'paymaster'>,
  root: { readonly calls: readonly EntryPointCall[] },
): ObservedCalls {
  const find = (to: Address | undefined, selector: Hex) =>
    root.calls.find((call) => call.to === to && toHex(call.input.subarray(0, 4)) === selector)
  const answerOf = (call: EntryPointCall | undefined, at: number, size: number) =>
    call?.error === undefined && call && call.output.length >= size
      ? wordAt(call.output, at)
      : undefined
  const inner = find(address, callLayout.innerHandleOp)
  const sponsoring = find(paymaster, callLayout.validatePaymasterUserOp)
  const paymasterData = answerOf(sponsoring, 32, 96)
  const refused =
    paymasterData === undefined || !sponsoring ? undefined : refusedPadding(sponsoring.output)
  return {
    accountData: answerOf(find(sender, callLayout.validateUserOp), 0, 32),
    paymasterData,
    refused,
    validated: inner && !refused ? validationEnd(inner.input, callLayout) : undefined,
  }
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return BigInt(toHex(bytes.subarray(at, at + 32)))
}
