import type { Address, Hex } from 'viem'
import type { BlockOverride } from '../../chain/comingBlock.js'
import { type CallOutcome, encodeEthCall } from '../../chain/ethCall.js'
import type { BlockId, Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeRpcError } from '../../chain/nodeErrors.js'
import { readAtHead } from '../../chain/nodeReads.js'
import { callTransaction, prepareCall, type TransactionCall } from '../../chain/transactionCall.js'
import type { EntryPoint, Failure } from '../../erc4337/entryPoint.js'
import type { Fees } from '../../erc4337/fees.js'
import type { StoredOperation } from '../../mempool/pool/operations.js'
import { bundleCall, type Payee } from './bundleCall.js'

type BundleSimulation = Payee & {
  readonly node: NodeClient
  readonly entryPoint: EntryPoint
  readonly executor: Address
  readonly price: Fees
  /** The block in which it would run; undefined where the node cannot pretend one. */
  readonly pretended: BlockOverride | undefined
}

/** An operation that makes handleOps revert, and how. */
export type Failed = { readonly stored: StoredOperation; readonly failure: Failure }

/**
 * Runs handleOps as it would be sent, on the latest state and in the coming block, until it succeeds. An operation that the
 * EntryPoint names as the failed one is taken out and tried alone: if it succeeds alone it only
 * conflicts with another one, and waits in the pool; see `findPair`. When no operation is named the bundle is halved;
 * the other half waits in the pool, so the cause is found in a few bundles while all others are
 * included. Node trouble is thrown and proves nothing about operations.
 */
export async function simulateBundle(
  simulation: BundleSimulation,
  candidates: readonly StoredOperation[],
) {
  /** Operations that succeed together, in this order. */
  let kept = candidates
  /** Operations that make handleOps revert even when they are alone. */
  const failed: StoredOperation[] = []
  /**
   * Pairs with an entity in common of which each operation passes alone and fails behind the other one. All that fail
   * only together with others stay in the pool.
   */
  const pairs: (readonly [Failed, Failed])[] = []
  /** Operations for which those before them leave too little of their paymaster's deposit. */
  const unpaid: StoredOperation[] = []
  while (kept.length > 0) {
    const failure = await simulate(simulation, kept)
    if (failure === undefined) break
    const suspect = kept.length === 1 ? kept[0] : kept[failure.index ?? -1]
    if (suspect === undefined) {
      kept = kept.slice(0, Math.ceil(kept.length / 2))
      continue
    }
    const failsAlone = kept.length === 1 || (await simulate(simulation, [suspect])) !== undefined
    const left = withoutSuspect(kept, suspect, failsAlone ? undefined : failure.code)
    if (failsAlone) failed.push(suspect)
    else if (failure.code === 'AA31')
      unpaid.push(...kept.filter((stored) => !left.includes(stored)))
    else {
      const pair = await findPair(simulation, kept, suspect)
      if (pair) pairs.push(pair)
    }
    kept = left
  }
  return { kept, failed, pairs, unpaid }
}

/**
 * The bundle without the operation that fails in it with this code. Where those before it leave too little of the paymaster's
 * deposit, all of that paymaster behind it are out too: to find each of them takes a simulation of the bundle.
 */
export function withoutSuspect(
  bundle: readonly StoredOperation[],
  suspect: StoredOperation,
  code: Failure['code'],
): readonly StoredOperation[] {
  const place = bundle.indexOf(suspect)
  const { paymaster } = suspect.operation
  const isPoor = ({ operation }: StoredOperation, at: number) =>
    code === 'AA31' && at > place && operation.paymaster === paymaster
  return bundle.filter((stored, at) => stored !== suspect && !isPoor(stored, at))
}

/**
 * The failure of an operation that is alone on the state of `head`; undefined where it succeeds, or the node does not have
 * that block. A backend behind the node's address may lag: its latest state proves nothing about the operation.
 */
export async function failureAt(
  simulation: BundleSimulation,
  head: Head,
  stored: StoredOperation,
): Promise<Failure | undefined> {
  try {
    return await readAtHead(head, (block) => simulate(simulation, [stored], block))
  } catch (error) {
    if (error instanceof NodeRpcError) return undefined
    throw error
  }
}

/** The most operations with which one that fails together with others is tried in pairs. */
const MAX_PAIRS = 4

/**
 * The first operation before `suspect`, with an entity of its own, such that each of the two fails behind the other. Where only
 * one order fails, the one in front may have broken the one behind on purpose, so the order says nothing about
 * the one that failed.
 */
async function findPair(
  simulation: BundleSimulation,
  bundle: readonly StoredOperation[],
  suspect: StoredOperation,
): Promise<readonly [Failed, Failed] | undefined> {
  const before = bundle.slice(0, bundle.indexOf(suspect))
  for (const other of before.filter((each) => shareEntity(each, suspect)).slice(0, MAX_PAIRS)) {
    const behind = await simulate(simulation, [other, suspect])
    if (behind?.index !== 1) continue
    const reversed = await simulate(simulation, [suspect, other])
    if (reversed?.index === 1)
      return [
        { stored: suspect, failure: behind },
        { stored: other, failure: reversed },
      ]
  }
  return undefined
}

function shareEntity(one: StoredOperation, other: StoredOperation): boolean {
  const { paymaster } = one.operation
  return (
    (paymaster !== undefined && paymaster === other.operation.paymaster) ||
    (one.factory !== undefined && one.factory === other.factory)
  )
}

async function simulate(
  simulation: BundleSimulation,
  bundle: readonly StoredOperation[],
  block: BlockId = 'latest',
): Promise<Failure | undefined> {
  const { node, entryPoint, price, pretended } = simulation
  const call = { ...bundleCall(simulation, bundle), price }
  const outcome = await callTransaction(node, call, block, pretended)
  if (outcome.ok) return undefined
  const { revertData, message } = outcome
  return (
    entryPoint.decodeFailure(revertData) ?? {
      index: undefined,
      code: undefined,
      message,
      revertData,
    }
  )
}

type SimulatedBlock = {
  readonly calls: readonly {
    readonly status: Hex
    readonly returnData: Hex
    readonly error?: { readonly message: string }
  }[]
}

/** Nodes that do not have the method; there is no use in asking them again. */
const withoutMethod = new WeakSet<NodeClient>()
const METHOD_NOT_FOUND = -32_601

/**
 * The outcomes of transactions that are mined one after the other behind the newest block, each in a block of
 * its own from the time `timestamp` on (Unix seconds). Undefined where the node has no eth_simulateV1.
 */
export async function simulateSequence(
  node: NodeClient,
  transactions: readonly TransactionCall[],
  timestamp: number,
): Promise<readonly CallOutcome[] | undefined> {
  if (withoutMethod.has(node)) return undefined
  const prepared = await Promise.all(transactions.map((call) => prepareCall(node, call)))
  const blockStateCalls = prepared.map(({ request, override }, place) => ({
    blockOverrides: { time: `0x${(timestamp + place).toString(16)}` },
    ...(override ? { stateOverrides: override } : {}),
    calls: [encodeEthCall(request, 'latest').params[0]],
  }))
  try {
    const params = [{ blockStateCalls }, 'latest']
    const blocks = await node.request<readonly SimulatedBlock[]>('eth_simulateV1', params)
    const calls = blocks.flatMap((block) => block.calls)
    return calls.length === transactions.length ? calls.map(outcomeOf) : undefined
  } catch (error) {
    if (!(error instanceof NodeRpcError)) throw error
    if (error.code === METHOD_NOT_FOUND) withoutMethod.add(node)
    return undefined
  }
}

function outcomeOf({ status, returnData, error }: SimulatedBlock['calls'][number]): CallOutcome {
  if (BigInt(status) === 1n) return { ok: true, data: returnData }
  return { ok: false, revertData: returnData, message: error?.message ?? 'reverted' }
}
