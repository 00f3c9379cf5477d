import type { Hex } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import type { StateOverride } from '../chain/stateOverride.js'
import { depositSlot } from '../encoding/storageLayout.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** wei; above what any operation can cost, and low enough to be added to in the EntryPoint's uint112 */
const PLENTY = 2n ** 96n

/**
 * What a node shall pretend so that `op` cannot fail for want of money to pay its gas. A paymaster has
 * plenty deposited (AA31). A sender that pays itself has, on top of its own balance, what its deposit
 * lacks of the prefund (AA21): it pays that in validation, and its call meets the balance that it
 * really has, so that a call which sends more fails in an estimate as it would later.
 */
export async function fundPayer(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<StateOverride> {
  if (op.paymaster) {
    const value: Hex = `0x${PLENTY.toString(16).padStart(64, '0')}`
    return { [entryPoint.address]: { stateDiff: { [depositSlot(op.paymaster)]: value } } }
  }
  const [balance, deposit] = await node.batch([
    { method: 'eth_getBalance', params: [op.sender, 'latest'] },
    { method: 'eth_getStorageAt', params: [entryPoint.address, depositSlot(op.sender), 'latest'] },
  ])
  if (!balance?.ok) throw balance?.error
  if (!deposit?.ok) throw deposit?.error
  const missing =
    entryPoint.requiredPrefund(op) - BigInt.asUintN(112, BigInt(deposit.result as Hex))
  const wei = BigInt(balance.result as Hex) + (missing > 0n ? missing : 0n)
  return { [op.sender]: { balance: `0x${wei.toString(16)}` } }
}
