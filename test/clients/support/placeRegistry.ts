import type { Address } from 'viem'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { constructAt } from './constructAt.js'

/** Where accounts of ERC-7579 look for the registry of modules (ERC-7484). */
export const REGISTRY: Address = '0x000000000069E2a187AEFFb852bF3cCdC95151B2'

/** A model of the registry: every module is attested. */
export async function placeRegistry(rpcUrl: string): Promise<void> {
  const { ModelRegistry } = compileSolidity(`contract ModelRegistry { fallback() external {} }`)
  await constructAt(rpcUrl, REGISTRY, ModelRegistry!.bytecode)
}
