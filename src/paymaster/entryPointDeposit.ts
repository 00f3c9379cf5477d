import type { Address, Hex } from 'viem'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { ethCall } from '../chain/ethCall.js'
import type { BlockId, Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { NodeUnavailableError } from '../chain/nodeErrors.js'

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
  let hash: Hex | undefined
  const known = new Map<string, Promise<bigint>>()
  return (head: Head, entryPoint: Address, account: Address): Promise<bigint> => {
    if (head.hash !== hash) {
      known.clear()
      hash = head.hash
    }
    const name = `${entryPoint} ${account}`
    const deposit = known.get(name) ?? depositOf(node, entryPoint, account, head.number)
    known.set(name, deposit)
    deposit.catch(() => {
      if (known.get(name) === deposit) known.delete(name)
    })
    return deposit
  }
}

export type DepositReader = ReturnType<typeof createDeposits>

/** Call data that adds the transaction's value to the deposit of `account`. */
export function depositTo(account: Address): Hex {
  return encodeFunctionData({ abi, functionName: 'depositTo', args: [account] })
}
