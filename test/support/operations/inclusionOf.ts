import { type Address, type Hex, zeroHash } from 'viem'
import type { Included } from '../../../src/erc4337/entryPoint.js'
import type { ReservationSlot } from '../../../src/paymaster/ledger/reservations.js'

export const entryPoint: Address = '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789'
export const alice: Address = `0x${'a1'.repeat(20)}`
export const bob: Address = `0x${'b0'.repeat(20)}`
export const tank: Address = `0x${'7a'.repeat(20)}`

type Event = {
  readonly slot: Pick<ReservationSlot, 'sender' | 'nonce' | 'entryPoint'>
  readonly hash: Hex
  readonly cost: bigint
  readonly block: bigint
  readonly paymaster?: Address
}

/** One UserOperationEvent as the index has it. */
export function inclusionOf({ slot, hash, cost, block, paymaster = tank }: Event): Included {
  const event = {
    address: slot.entryPoint,
    topics: [],
    data: '0x' as const,
    blockNumber: block,
    blockHash: zeroHash,
    transactionHash: hash,
    transactionIndex: 0,
    logIndex: 0,
  }
  return {
    entryPoint: slot.entryPoint,
    outcome: {
      userOpHash: hash,
      sender: slot.sender,
      nonce: slot.nonce,
      paymaster,
      success: true,
      actualGasCost: cost,
      actualGasUsed: 1n,
      reason: '0x',
      event,
      logs: [event],
    },
  }
}
