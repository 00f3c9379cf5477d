import type { Hex } from 'viem'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { DataFeeKind } from '../chain/definition/dataFee.js'
import { ethCall } from '../chain/ethCall.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode } from '../chain/nodeReads.js'
import { ConfigError } from '../errors/configError.js'
import { GAS_PRICE_ORACLE, stackReaders, TOKEN_RATIO } from './dataFee/stackReaders.js'

/**
 * Checks that the chain charges for data as its definition says: with another answer the operator would lose
 * money on every operation, or nothing could be estimated.
 * @throws ConfigError in a sentence that names the right `dataFee`; node trouble
 */
export async function requireDataFee(
  node: NodeClient,
  { chainId, dataFee = 'none' }: Pick<ChainDefinition, 'chainId' | 'dataFee'>,
): Promise<void> {
  const detected = (await detectDataFee(node)) ?? 'none'
  if (detected === dataFee) return
  const [missing] = stackReaders[dataFee]?.predeploys ?? []
  throw new ConfigError(
    detected === 'none'
      ? `Chain ${chainId} has no contract at ${missing}, which every chain with dataFee ${dataFee} has: correct dataFee.`
      : `Chain ${chainId} has the contracts of a chain with dataFee ${detected}, not ${dataFee}: set dataFee to "${detected}".`,
  )
}

/** The way of charging that the contracts on the chain belong to; undefined when there are none. */
async function detectDataFee(node: NodeClient): Promise<DataFeeKind | undefined> {
  for (const kind of ['opStack', 'arbitrum', 'scroll'] as const) {
    const contracts = stackReaders[kind]?.predeploys ?? []
    const codes = await Promise.all(contracts.map((address) => getCode(node, address)))
    if (codes.some((code: Hex) => code === '0x')) continue
    if (kind !== 'opStack') return kind
    const ratio = await ethCall(node, { to: GAS_PRICE_ORACLE, data: TOKEN_RATIO })
    return ratio.ok && ratio.data.length === 66 ? 'opStackTokenRatio' : 'opStack'
  }
  return undefined
}
