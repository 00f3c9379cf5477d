import { privateKeyToAddress } from 'viem/accounts'
import { anvilClient } from './anvilClient.js'
import { devKeys } from './devKeys.js'

/**
 * Removes code at the development accounts of a forked chain. Everybody knows their keys, so on public chains
 * others have delegated them (EIP-7702): ether that reaches them would be swept, and an EntryPoint from v0.8 on takes no
 * bundle from a sender that has code.
 */
export async function freeDevAccounts(rpcUrl: string): Promise<void> {
  const anvil = anvilClient(rpcUrl)
  const addresses = devKeys.map((key) => privateKeyToAddress(key))
  await Promise.all(addresses.map((address) => anvil.setCode({ address, bytecode: '0x' })))
}
