import type { Address } from 'viem'
import { bytesToHex, numberToHex } from 'viem/utils'
import type { ChainDefinition } from '../definition/chainDefinition.js'
import { ConfigError } from '../../errors/configError.js'
import { intrinsicGas } from '../../evm/index.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'
import type { NodeClient } from '../nodeClient.js'

const nobody: Address = `0x${'00'.repeat(20)}`
/** Call data by which 4/16 gas a byte and the floor of 10/40 (EIP-7623) are far apart. */
const data = new Uint8Array(10_000).fill(1)
const { floor } = intrinsicGas({ fork: 'prague' }, { to: nobody, data })

/** A call that does nothing, with the floor's gas and with one less: only where the chain has no floor do both run. */
export const calldataFloorCalls: readonly NodeCall[] = [floor, floor - 1].map((gas) => {
  const call = { to: nobody, data: bytesToHex(data), gas: numberToHex(gas) }
  return { method: 'eth_call', params: [call, 'latest'] }
})

/** Whether the chain has the floor price, by the answers to `calldataFloorCalls`; undefined where they do not tell. */
export function readCalldataFloor(answers: readonly NodeAnswer[]): boolean | undefined {
  const [enough, tooLittle] = answers
  if (!enough?.ok) return undefined
  return tooLittle?.ok === false
}

/**
 * Checks that the chain has no floor price where its definition says so: operations with much call data would pay for
 * less than the chain charges. The other way round they pay more than they need to, which a node that does not
 * apply the floor to calls cannot tell.
 * @throws ConfigError in a sentence; node trouble
 */
export async function requireCalldataFloor(
  node: NodeClient,
  { chainId, calldataFloor = true }: Pick<ChainDefinition, 'chainId' | 'calldataFloor'>,
): Promise<void> {
  if (calldataFloor || !readCalldataFloor(await node.batch(calldataFloorCalls))) return
  throw new ConfigError(
    `Chain ${chainId} has the floor price of calldata (EIP-7623), which calldataFloor denies: set calldataFloor to true.`,
  )
}
