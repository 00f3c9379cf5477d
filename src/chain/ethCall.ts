import type { Address, Hex, SignedAuthorization } from 'viem'
import type { Fees } from '../erc4337/fees.js'
import type { BlockOverride } from './comingBlock.js'
import { type BlockId, blockParameter } from './head.js'
import type { NodeCall } from './jsonRpc.js'
import type { NodeClient } from './nodeClient.js'
import { NodeRpcError } from './nodeErrors.js'

export type CallRequest = {
  readonly to: Address
  readonly data: Hex
  readonly from?: Address
  /** gas; absent = the node's own cap */
  readonly gas?: bigint
  readonly value?: bigint
  /** wei per gas; absent = free gas, and base fee 0 on most nodes. The sender must be able to pay. */
  readonly price?: Fees
  /** EIP-7702; see `prepareCall` for nodes that do not know it in calls. */
  readonly authorizations?: readonly SignedAuthorization[]
}

/** The outcome of a call that ran: its return data, or its revert data. */
export type CallOutcome =
  | { readonly ok: true; readonly data: Hex }
  | { readonly ok: false; readonly revertData: Hex; readonly message: string }

/**
 * eth_call at `block` with the state that `override` pretends, in the block that is `pretended`. A revert or an exceptional halt is an
 * outcome; anything else the node refuses (bad parameters, unknown block) is thrown as NodeRpcError.
 */
export async function ethCall(
  node: NodeClient,
  request: CallRequest,
  block: BlockId = 'latest',
  override?: StateOverride,
  pretended?: BlockOverride,
): Promise<CallOutcome> {
  const { method, params } = encodeEthCall(request, block, override, pretended)
  try {
    return { ok: true, data: await node.request<Hex>(method, params) }
  } catch (error) {
    if (error instanceof NodeRpcError) return callFailure(error)
    throw error
  }
}

/** The eth_call of `request` at `block`. */
export function encodeEthCall(
  { to, data, from, gas, value, price, authorizations = [] }: CallRequest,
  block: BlockId,
  override?: StateOverride,
  pretended?: BlockOverride,
): NodeCall {
  const transaction = {
    to,
    data,
    ...(from === undefined ? {} : { from }),
    ...(gas === undefined ? {} : { gas: quantity(gas) }),
    ...(value === undefined ? {} : { value: quantity(value) }),
    ...Object.fromEntries(Object.entries(price ?? {}).map(([name, wei]) => [name, quantity(wei)])),
    ...(authorizations.length === 0 ? {} : { authorizationList: authorizations.map(encodeTuple) }),
  }
  const params = [transaction, blockParameter(block)]
  if (pretended) params.push(override ?? {}, pretended)
  else if (override) params.push(override)
  return { method: 'eth_call', params }
}

function encodeTuple({ chainId, address, nonce, yParity = 0, r, s }: SignedAuthorization) {
  return {
    address,
    chainId: quantity(chainId),
    nonce: quantity(nonce),
    yParity: quantity(yParity),
    r: quantity(BigInt(r)),
    s: quantity(BigInt(s)),
  }
}

function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

const halted =
  /revert|out of gas|intrinsic gas|invalid opcode|invalid jump|stack (?:under|over)flow|stack limit|gas uint64|vm (?:execution )?error|bad instruction|EVM error/i

/** The outcome of a call that the node answered with an error; undefined = it did not run. */
export function callOutcome(error: NodeRpcError): Extract<CallOutcome, { ok: false }> | undefined {
  const revertCode = 3
  const ran =
    error.revertData !== undefined || error.code === revertCode || halted.test(error.message)
  if (!ran) return undefined
  return { ok: false, revertData: error.revertData ?? '0x', message: error.message }
}

function callFailure(error: NodeRpcError): CallOutcome {
  const outcome = callOutcome(error)
  if (outcome === undefined) throw error
  return outcome
}

/** State override set of eth_call: the state that the node is to pretend. */
export type StateOverride = {
  readonly [address: Address]: {
    readonly balance?: Hex
    readonly nonce?: Hex
    readonly code?: Hex
    readonly state?: Readonly<Record<Hex, Hex>>
    readonly stateDiff?: Readonly<Record<Hex, Hex>>
  }
}
