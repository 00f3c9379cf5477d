import { setTimeout as delay } from 'node:timers/promises'
import type { Address, Hex } from 'viem'
import { keccak256 } from 'viem/utils'
import { TransactionFailedError } from '../base/errors/sponsorshipErrors.js'
import { broadcast } from './broadcast.js'
import type { ChainDefinition } from './definition/chainDefinition.js'
import { adviseFees } from './fees.js'
import type { NodeClient } from './nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from './nodeErrors.js'
import { getBlock, getTransactionCount, getTransactionReceipt } from './nodeReads.js'
import type { ExecutorSigner } from './signing/executorTransaction.js'
import type { TransactionReceipt } from './transactionReceipt.js'

export type SenderContext = {
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'pollInterval' | 'minimumTip'>
  /** Milliseconds to wait for the receipt. */
  readonly patience?: number
}

type TransactionRequest = {
  readonly to: Address
  readonly data: Hex
  /** wei */
  readonly value?: bigint
}

const DEFAULT_PATIENCE = 120_000

/** By sender, the last transaction that is being sent. */
function createSending(): Map<Address, Promise<unknown>> {
  return new Map()
}

/** Runs `send` after what the same sender sends there, so that each finds the nonce of the one before taken. */
function inTurn<Result>(
  node: NodeClient,
  sender: Address,
  send: () => Promise<Result>,
): Promise<Result> {
  const bySender = node.memory(createSending)
  const last = bySender.get(sender) ?? Promise.resolve()
  const next = last.then(send, send)
  bySender.set(sender, next)
  return next
}

/**
 * Sends one transaction for an operator's command and waits until it is in a block. Several at once of a key are
 * sent one after the other and may come into one block. It
 * stores nothing and repeats nothing: executors do not use it. Throws NodeRpcError when the node
 * refuses it (it would revert, or the key has too little ether), TransactionFailedError when it
 * reverts all the same or takes too long.
 */
export async function sendTransaction(
  context: SenderContext,
  signer: ExecutorSigner,
  request: TransactionRequest,
): Promise<TransactionReceipt> {
  const { node, definition, patience = DEFAULT_PATIENCE } = context
  const hash = await inTurn(node, signer.address, () => signAndSend(context, signer, request))
  const deadline = performance.now() + patience
  for (;;) {
    const receipt = await receiptIfKnown(node, hash)
    if (receipt?.status === 1) return receipt
    if (receipt !== undefined) throw new TransactionFailedError('The transaction reverted', hash)
    if (performance.now() > deadline) {
      throw new TransactionFailedError(`The transaction is not mined after ${patience} ms`, hash)
    }
    await delay(definition.pollInterval)
  }
}

/** The transaction is on its way, whether the node answers or not. */
async function receiptIfKnown(
  node: NodeClient,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  try {
    return await getTransactionReceipt(node, hash)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

async function signAndSend(
  { node, definition }: SenderContext,
  signer: ExecutorSigner,
  { to, data, value = 0n }: TransactionRequest,
): Promise<Hex> {
  const call = { from: signer.address, to, data, value: `0x${value.toString(16)}` }
  const [head, nonce, gas] = await Promise.all([
    getBlock(node, 'latest'),
    getTransactionCount(node, signer.address, 'pending'),
    node.request<Hex>('eth_estimateGas', [call]),
  ])
  if (head === undefined) throw new Error('the node has no latest block')
  const { fast } = await adviseFees(node, head, definition)
  const { chainId } = definition
  const transaction = { chainId, nonce, to, data, value, gas: BigInt(gas) }
  const signed = await signer.signTransaction({ ...transaction, ...fast })
  const { kind, reason = kind } = await broadcast(node, signed)
  if (kind !== 'sent') throw new NodeRpcError(-32000, reason, undefined)
  return keccak256(signed)
}
