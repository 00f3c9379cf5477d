import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { NodeRpcError, NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getBlock } from '../../chain/nodeReads.js'
import { callTransaction, type TransactionCall } from '../../chain/transactionCall.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { AaCode, EntryPoint, Failure } from '../../erc4337/entryPoint.js'
import { operationsInBundle, type StoredOperation } from '../../mempool/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { ownBundleTransaction } from '../outbox/bundles.js'

/** The operation that made a mined bundle fail, and how. */
export type Culprit = {
  readonly bundleId: bigint
  readonly entryPoint: EntryPoint
  readonly stored: StoredOperation
  readonly failure: Failure
  /** Whether the bundle had no other operation. */
  readonly wasAlone: boolean
}

/** Failures of an operation that the chain includes already, by whomever: it goes nowhere. */
const usedNonce: ReadonlySet<AaCode | undefined> = new Set(['AA10', 'AA25'])

/**
 * The operation that made a reverted bundle of ours fail: that of the FailedOp with which the transaction
 * ended, by the node's trace of it, else by running it again on the block before. Undefined when neither
 * names one, the operation's nonce is used, or a bundle of several ran out of gas: then nobody is blamed alone. Node trouble is thrown.
 */
export async function findCulprit(
  context: BundlingContext,
  receipt: TransactionReceipt,
): Promise<Culprit | undefined> {
  const { database, definition, entryPoints } = context
  const entryPoint = entryPoints.find(({ address }) => address === receipt.to)
  const own = await ownBundleTransaction(database, definition.chainId, receipt.transactionHash)
  if (!own || !entryPoint) return undefined
  const { data = '0x', gas = 0n, authorizationList = [] } = parseTransaction(own.raw)
  const ops = entryPoint.decodeHandleOps(data)
  if (!ops) return undefined
  const inBundle = await operationsInBundle(database, own.bundleId)
  const failure =
    (await tracedFailure(context, entryPoint, receipt.transactionHash)) ??
    (await replayedFailure(context, entryPoint, receipt, {
      data,
      gas,
      authorizations: authorizationList,
    }))
  const named = failure?.index === undefined ? undefined : ops[failure.index]
  const stored = inBundle.find(
    ({ operation }) => operation.sender === named?.sender && operation.nonce === named.nonce,
  )
  if (!failure || !stored || usedNonce.has(failure.code)) return undefined
  const wasAlone = ops.length === 1
  // An earlier operation may have used the gas that the last one lacked.
  const ranOut = receipt.gasUsed * 64n >= gas * 63n
  if (failure.code === undefined && ranOut && !wasAlone) return undefined
  const { bundleId } = own
  return { bundleId, entryPoint, stored, failure: withCode(failure, stored), wasAlone }
}

/** The failure, with the code of a failing postOp where an execution with a paymaster ended without reason. */
function withCode(failure: Failure, { operation }: StoredOperation): Failure {
  const isPostOp = failure.code === undefined && operation.paymaster !== undefined
  return isPostOp ? { ...failure, code: 'AA50', message: 'AA50 postOp revert' } : failure
}

/** A call in the answer of `callTracer`. */
type TracedCall = {
  readonly to?: Address
  readonly input: Hex
  readonly output?: Hex
  readonly calls?: readonly TracedCall[]
}

/**
 * The failure by the node's trace. An EntryPoint that ends without a reason, as v0.6 does when a postOp
 * fails without one, ends in the operation that it executed last. Undefined on a node without traces, or where none comes.
 */
async function tracedFailure(
  { node }: BundlingContext,
  entryPoint: EntryPoint,
  transactionHash: Hex,
): Promise<Failure | undefined> {
  let traced: TracedCall | null
  try {
    traced = await node.request('debug_traceTransaction', [
      transactionHash,
      { tracer: 'callTracer' },
    ])
  } catch (error) {
    // It may take the node too long, or be too large: the index would wait for ever. A node that is away fails the replay.
    if (error instanceof NodeRpcError || error instanceof NodeUnavailableError) return undefined
    throw error
  }
  const revertData = traced?.output ?? '0x'
  const failure = entryPoint.decodeFailure(revertData)
  if (failure?.index !== undefined) return failure
  const { innerHandleOp } = entryPoint.callLayout
  const executed = (traced?.calls ?? []).filter(
    ({ to, input }) => to === entryPoint.address && input.startsWith(innerHandleOp),
  )
  if (executed.length === 0) return failure
  const message = failure?.message ?? 'its execution ended handleOps without a reason'
  return { index: executed.length - 1, code: failure?.code, message, revertData }
}

/** The failure by the same call after the block before, in a block like the one that has it. */
async function replayedFailure(
  { node }: BundlingContext,
  entryPoint: EntryPoint,
  { from, blockNumber }: TransactionReceipt,
  sent: Pick<TransactionCall, 'data' | 'gas' | 'authorizations'>,
): Promise<Failure | undefined> {
  const block = await getBlock(node, blockNumber)
  if (block === undefined) return undefined
  const pretended = {
    number: `0x${blockNumber.toString(16)}`,
    time: `0x${block.timestamp.toString(16)}`,
  } as const
  const call = { ...sent, from, to: entryPoint.address }
  try {
    const outcome = await callTransaction(node, call, blockNumber - 1n, pretended)
    return outcome.ok ? undefined : entryPoint.decodeFailure(outcome.revertData)
  } catch (error) {
    if (error instanceof NodeRpcError) return undefined
    throw error
  }
}
