import type { Address, Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { erc20Abi } from '../../chain/contracts/erc20Abi.js'
import {
  abi as probeAbi,
  runtime as probeCode,
} from '../../chain/contracts/generated/TransferProbe.js'
import { ethCall } from '../../chain/ethCall.js'
import type { BlockId } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'

/** The balance of a sender and its allowance for a tank, in smallest token units. */
export type Holdings = { readonly balance: bigint; readonly allowance: bigint }

async function word(node: NodeClient, to: Address, data: Hex, block: BlockId): Promise<bigint> {
  const outcome = await ethCall(node, { to, data }, block)
  return outcome.ok && outcome.data.length === 66 ? BigInt(outcome.data) : 0n
}

/** The balance of `holder` in smallest token units; 0 where there is no token. */
export function balanceOf(
  node: NodeClient,
  token: Address,
  holder: Address,
  block: BlockId = 'latest',
): Promise<bigint> {
  const call = { abi: erc20Abi, functionName: 'balanceOf', args: [holder] } as const
  return word(node, token, encodeFunctionData(call), block)
}

/** The balance of `holder`, and the part of it that `spender` may take. */
export async function readHoldings(
  node: NodeClient,
  token: Address,
  holder: Address,
  spender: Address,
): Promise<Holdings> {
  const call = { abi: erc20Abi, functionName: 'allowance', args: [holder, spender] } as const
  const [balance, allowance] = await Promise.all([
    balanceOf(node, token, holder),
    word(node, token, encodeFunctionData(call), 'latest'),
  ])
  return { balance, allowance }
}

/**
 * Whether a transfer of `amount` from `holder` to `to` takes exactly that amount from the one and
 * gives exactly that to the other. Runs on the node with code of ours in place of the holder's.
 */
export async function movesExactly(
  node: NodeClient,
  token: Address,
  { holder, to, amount }: { holder: Address; to: Address; amount: bigint },
): Promise<boolean> {
  const call = { abi: probeAbi, functionName: 'probe', args: [token, to, amount] } as const
  const override = { [holder]: { code: probeCode } }
  const request = { to: holder, data: encodeFunctionData(call) }
  const outcome = await ethCall(node, request, 'latest', override)
  if (!outcome.ok) return false
  const [spent, received] = decodeFunctionResult({
    abi: probeAbi,
    functionName: 'probe',
    data: outcome.data,
  })
  return spent === amount && received === amount
}
