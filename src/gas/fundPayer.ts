import type { Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { StateOverride } from '../chain/stateOverride.js'
import { depositSlot } from '../encoding/storageLayout.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** wei; above the cost of any operation, and low enough that the EntryPoint's uint112 can still grow */
const PLENTY = 2n ** 96n

/**
 * An override with which `op` cannot fail because its payer has too little money for gas. A paymaster
 * has a large deposit (AA31). A sender that pays itself has, on top of its balance, the part of the
 * prefund that its deposit does not cover (AA21): it pays that in validation, and its call meets its
 * real balance, so that a call which sends more fails in an estimate as it would later.
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
  const shortfall =
    entryPoint.requiredPrefund(op) - BigInt.asUintN(112, BigInt(deposit.result as Hex))
  const wei = BigInt(balance.result as Hex) + greatest(shortfall, 0n)
  return { [op.sender]: { balance: `0x${wei.toString(16)}` } }
}
