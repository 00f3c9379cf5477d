import type { Address, Hex } from 'viem'
import { instructionTable } from './instructions.js'
import { type EvmContext, Machine } from './machine.js'

/** A machine for one message, with the instructions of the block's fork. `gasPrice` in wei per gas. */
export function createMachine(
  context: EvmContext,
  origin: Address,
  gasPrice: bigint,
  blobHashes: readonly Hex[],
): Machine {
  const table = instructionTable(context.block.fork)
  return new Machine(context, table, origin, gasPrice, blobHashes)
}
