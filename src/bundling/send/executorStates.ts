import type { Address, Hex } from 'viem'
import { blockParameter, type Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { readAtHead } from '../../chain/nodeReads.js'

/** The nonce and balance of an executor or the treasury at one head. */
export type ExecutorState = {
  readonly address: Address
  /** The next nonce in the chain. */
  readonly mined: bigint
  /** wei */
  readonly balance: bigint
}

/** States of `addresses` at `head`, in one batch. Node trouble is thrown. */
export async function readExecutorStates(
  node: NodeClient,
  head: Head,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, ExecutorState>> {
  if (addresses.length === 0) return new Map()
  const values = await readAtHead(head, async (block) => {
    const at = blockParameter(block)
    const answers = await node.batch(
      addresses.flatMap((address) => [
        { method: 'eth_getTransactionCount', params: [address, at] },
        { method: 'eth_getBalance', params: [address, at] },
      ]),
    )
    return answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return BigInt(answer.result as Hex)
    })
  })
  return new Map(
    addresses.map((address, i) => [
      address,
      { address, mined: values[2 * i] ?? 0n, balance: values[2 * i + 1] ?? 0n },
    ]),
  )
}
