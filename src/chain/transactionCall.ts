import type { Address, Hex, SignedAuthorization } from 'viem'
import { authorityOf } from '../evm/index.js'
import type { BlockOverride } from './comingBlock.js'
import {
  type CallOutcome,
  type CallRequest,
  encodeEthCall,
  ethCall,
  type StateOverride,
} from './ethCall.js'
import type { BlockId } from './head.js'
import type { NodeClient } from './nodeClient.js'
import { NodeRpcError } from './nodeErrors.js'

/** A call as a transaction will make it. */
export type TransactionCall = CallRequest & {
  /** Its authorization list (EIP-7702). */
  readonly authorizations: readonly SignedAuthorization[]
}

/** A call for a node, with the state that it has to pretend. */
type PreparedCall = { readonly request: CallRequest; readonly override: StateOverride | undefined }

/**
 * The call as the node can run it. A node that applies authorization lists in calls gets the list itself, so that
 * their gas counts and a stale one has no effect, as on the chain. Others are to pretend their effect.
 */
export async function prepareCall(node: NodeClient, call: TransactionCall): Promise<PreparedCall> {
  const { authorizations } = call
  if (authorizations.length === 0 || (await appliesLists(node))) {
    return { request: call, override: undefined }
  }
  const { authorizations: _, ...request } = call
  const accounts = authorizations.flatMap((each) => delegatedAccount(each) ?? [])
  return { request, override: Object.assign({}, ...accounts) }
}

/** eth_call of a transaction; see `ethCall` and `prepareCall`. */
export async function callTransaction(
  node: NodeClient,
  call: TransactionCall,
  block: BlockId,
  pretended?: BlockOverride,
): Promise<CallOutcome> {
  const { request, override } = await prepareCall(node, call)
  return ethCall(node, request, block, override, pretended)
}

const NO_DELEGATE: Address = '0x0000000000000000000000000000000000000000'

/** The signer with the delegation in place; undefined where nobody has signed it. */
function delegatedAccount({
  yParity: parity,
  ...tuple
}: SignedAuthorization): StateOverride | undefined {
  const { nonce, address } = tuple
  const signer = authorityOf({
    chainId: BigInt(tuple.chainId),
    address: address.toLowerCase() as Address,
    nonce: BigInt(nonce),
    yParity: parity === 1 ? 1 : 0,
    r: BigInt(tuple.r),
    s: BigInt(tuple.s),
  })
  if (signer === undefined) return undefined
  const code: Hex = address === NO_DELEGATE ? '0x' : `0xef0100${address.slice(2).toLowerCase()}`
  return { [signer]: { code, nonce: `0x${(nonce + 1).toString(16)}` } }
}

/** Signed by a key that nobody has kept, for every chain. */
const probedAuthorization: SignedAuthorization = {
  chainId: 0,
  address: '0x0000000000000000000000000000000000000001',
  nonce: 0,
  yParity: 0,
  r: '0x123fdd38d78eba994e0c6331e3f882d3991d6698b61d9773c77ca6ca0a60d6ce',
  s: '0x01817e4a405ed42bbb5308c3cb28833d8090ba30560f90963d3a065b1af63639',
}
const PROBED_SIGNER = '0x313be763fbf9372b5ba35c44b362dad877c0a23f'
/** ASCII "purser-list", no contract on any chain. */
const PROBE: Address = '0x0000000000000000007075727365722d6c697374'
/** Returns the size of the signer's code. */
const probeCode: Hex = `0x73${PROBED_SIGNER.slice(2)}3b60005260206000f3`

type ListMemory = { appliesLists: Promise<boolean> | undefined }

function createListMemory(): ListMemory {
  return { appliesLists: undefined }
}

/** Whether the node applies the authorization list of a call; asked once. */
function appliesLists(node: NodeClient): Promise<boolean> {
  const memory = node.memory(createListMemory)
  memory.appliesLists ??= askForLists(node).catch((error) => {
    memory.appliesLists = undefined
    throw error
  })
  return memory.appliesLists
}

async function askForLists(node: NodeClient): Promise<boolean> {
  const call = {
    to: PROBE,
    data: '0x',
    gas: 500_000n,
    authorizations: [probedAuthorization],
  } as const
  const { method, params } = encodeEthCall(call, 'latest', { [PROBE]: { code: probeCode } })
  try {
    return BigInt(await node.request<Hex>(method, params)) > 0n
  } catch (error) {
    if (error instanceof NodeRpcError) return false
    throw error
  }
}
