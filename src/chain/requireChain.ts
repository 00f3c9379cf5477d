import type { Hex } from 'viem'
import { ConfigError } from '../base/errors/configError.js'
import { canonicalAddresses } from '../erc4337/canonicalAddresses.js'
import { versions } from '../erc4337/versionFacts.js'
import { calldataFloorCalls, readCalldataFloor } from './chainRules.js'
import type { ChainDefinition } from './definition/chainDefinition.js'
import type { NodeAnswer } from './jsonRpc.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'
import { getCode } from './nodeReads.js'
import { decodeLineaFloor } from './tipFloor.js'

type Network = Pick<ChainDefinition, 'chainId' | 'entryPoints'>

/**
 * Checks that every node that answers serves the chain of the definition: a node of another chain would
 * accept our transactions as its own.
 * @throws ConfigError when the chain id is another; node trouble
 */
export async function requireChain(
  node: NodeClient,
  { chainId }: Pick<Network, 'chainId'>,
): Promise<void> {
  const answers = await node.survey<Hex>('eth_chainId', [])
  if (answers.length === 0) throw new NodeUnavailableError('eth_chainId')
  const wrong = answers.map(Number).find((actual) => actual !== chainId)
  if (wrong !== undefined)
    throw new ConfigError(
      `The node of chain ${chainId} serves chain ${wrong}: correct chainId or rpcUrls.`,
    )
}

/**
 * The EntryPoints to serve on the chain: those of the definition, each of which must be there, or without
 * any in it every canonical one that is there.
 * @throws ConfigError when one of the definition is missing, or none is there; node trouble
 */
export async function requireEntryPoints(
  node: NodeClient,
  { chainId, entryPoints }: Network,
): Promise<Network['entryPoints']> {
  const candidates = entryPoints.length > 0 ? entryPoints : canonical
  const codes = await Promise.all(candidates.map(({ address }) => getCode(node, address)))
  const missing = candidates.find((_, index) => codes[index] === '0x')
  if (entryPoints.length > 0 && missing)
    throw new ConfigError(
      `Chain ${chainId} has no EntryPoint ${missing.version} at ${missing.address}: correct entryPoints.`,
    )
  const present = candidates.filter((_, index) => codes[index] !== '0x')
  if (present.length === 0)
    throw new ConfigError(
      `Chain ${chainId} has none of the canonical EntryPoints: name its own in entryPoints.`,
    )
  return present
}

type RawBlock = {
  readonly gasLimit?: Hex
  readonly extraData?: Hex
  readonly baseFeePerGas?: Hex | null
}

/**
 * Checks that the chain's blocks are as its definition says.
 * @throws ConfigError when a bundle may be larger than a block, headers lack the tip that they must have, or the
 * chain is without EIP-1559; node trouble
 */
export async function requireBlocks(
  node: NodeClient,
  {
    chainId,
    maxBundleGas,
    minimumTip,
  }: Pick<ChainDefinition, 'chainId' | 'maxBundleGas' | 'minimumTip'>,
): Promise<void> {
  const block = await node.request<RawBlock | null>('eth_getBlockByNumber', ['latest', false])
  const gasLimit = BigInt(block?.gasLimit ?? 0)
  if (gasLimit > 0n && gasLimit < maxBundleGas)
    throw new ConfigError(
      `Chain ${chainId} has blocks of ${gasLimit} gas, less than facts.maxBundleGas ${maxBundleGas}: set it to ${gasLimit} or less.`,
    )
  if (minimumTip === 'linea' && decodeLineaFloor(block?.extraData ?? '0x') === undefined)
    throw new ConfigError(
      `Chain ${chainId} does not publish a minimum tip in its headers. Correct facts.minimumTip.`,
    )
  if ((block?.baseFeePerGas ?? undefined) === undefined)
    throw new ConfigError(
      `The blocks of chain ${chainId} have no base fee, so its nodes take no transactions of EIP-1559, and Purser sends no others.`,
    )
}

/**
 * What speaks against the definition's `finalityDepth`, as a sentence without its full stop: a chain that counts blocks as
 * final much later. Undefined where nothing does, or the node does not report it.
 */
export async function doubtFinality(
  node: NodeClient,
  { finalityDepth }: Pick<ChainDefinition, 'finalityDepth'>,
): Promise<string | undefined> {
  const [latest, finalized] = await node.batch(
    ['latest', 'finalized'].map((block) => ({
      method: 'eth_getBlockByNumber',
      params: [block, false],
    })),
  )
  const numberIn = (answer: NodeAnswer | undefined) =>
    answer?.ok ? (answer.result as { number?: Hex } | null)?.number : undefined
  const [newest, final] = [numberIn(latest), numberIn(finalized)]
  if (newest === undefined || final === undefined) return undefined
  const depth = Number(newest) - Number(final)
  if (depth <= 2 * finalityDepth) return undefined
  return `the chain's own finality is ${depth} blocks behind its head, and facts.finalityDepth is ${finalityDepth}`
}

/**
 * Checks that the chain has no floor price where its definition says so: operations with much call data would pay for
 * less than the chain charges. The other way round they pay more than they need to, which a node that does not
 * apply the floor to calls cannot show.
 * @throws ConfigError in a sentence; node trouble
 */
export async function requireCalldataFloor(
  node: NodeClient,
  { chainId, calldataFloor }: Pick<ChainDefinition, 'chainId' | 'calldataFloor'>,
): Promise<void> {
  if (calldataFloor || !readCalldataFloor(await node.batch(calldataFloorCalls()))) return
  throw new ConfigError(
    `Chain ${chainId} has the floor price of calldata (EIP-7623), which facts.calldataFloor denies: set it to true.`,
  )
}

const canonical = versions.map((version) => ({ version, address: canonicalAddresses[version] }))
