import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { ethCall } from '../chain/ethCall.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { BlockId } from '../chain/nodeReads.js'

/** The part of an EntryPoint that keeps deposits, the same in every version. */
const abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function depositTo(address account) payable',
])

/** wei that `account` has in the EntryPoint after `block`. */
export const depositOf = async (
  node: NodeClient,
  entryPoint: Address,
  account: Address,
  block: BlockId = 'latest',
): Promise<bigint> => {
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [account] })
  const outcome = await ethCall(node, { to: entryPoint, data }, block)
  if (!outcome.ok || outcome.data === '0x') {
    throw new Error(`no EntryPoint answers at ${entryPoint}`)
  }
  return BigInt(outcome.data)
}

/** Call data that adds the transaction's value to the deposit of `account`. */
export const depositTo = (account: Address): Hex =>
  encodeFunctionData({ abi, functionName: 'depositTo', args: [account] })
