import type { Address, Hex } from 'viem'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { ethCall } from '../chain/ethCall.js'
import type { BlockId, Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { NodeUnavailableError } from '../chain/nodeErrors.js'
import { perHead } from './perHead.js'

/** The part of an EntryPoint that keeps deposits, the same in every version. */
const abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function depositTo(address account) payable',
])

/**
 * The deposit of `account` in the EntryPoint after `block`, wei.
 * @throws NodeUnavailableError where no EntryPoint answers: it was there when the service started
 */
export async function depositOf(
  node: NodeClient,
  entryPoint: Address,
  account: Address,
  block: BlockId = 'latest',
): Promise<bigint> {
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [account] })
  const outcome = await ethCall(node, { to: entryPoint, data }, block)
  if (!outcome.ok || outcome.data === '0x') {
    throw new NodeUnavailableError(`no EntryPoint answers at ${entryPoint}`)
  }
  return BigInt(outcome.data)
}

/**
 * A reader of deposits as they were at a head, wei. Each is read once per head, because many
 * sponsorships ask and it does not change there.
 */
export function createDeposits(node: NodeClient) {
  const readOnce = perHead()
  return (head: Head, entryPoint: Address, account: Address): Promise<bigint> =>
    readOnce(head, `${entryPoint} ${account}`, () =>
      depositOf(node, entryPoint, account, head.number),
    )
}

export type DepositReader = ReturnType<typeof createDeposits>

/** Call data that adds the transaction's value to the deposit of `account`. */
export function depositTo(account: Address): Hex {
  return encodeFunctionData({ abi, functionName: 'depositTo', args: [account] })
}
