import type { Hex } from 'viem'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import { depositSlot } from '../../encoding/storageLayout.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { depositIn, fundPaymaster, fundSender } from '../payerFunds.js'

/** An override with which the payer of `op` has enough money for gas, from the money that it has at the newest block. */
export async function fundsAtNode(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<StateOverride> {
  if (op.paymaster !== undefined) return fundPaymaster(entryPoint, op.paymaster)
  const [balance, word] = await node.batch([
    { method: 'eth_getBalance', params: [op.sender, 'latest'] },
    { method: 'eth_getStorageAt', params: [entryPoint.address, depositSlot(op.sender), 'latest'] },
  ])
  if (!balance?.ok) throw balance?.error
  if (!word?.ok) throw word?.error
  const deposit = depositIn(BigInt(word.result as Hex))
  return fundSender(entryPoint, op, { balance: BigInt(balance.result as Hex), deposit })
}
