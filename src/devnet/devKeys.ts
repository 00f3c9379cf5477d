import type { Hex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { toHex } from 'viem/utils'

/** anvil's public mnemonic. Everybody knows these keys: never send them anything of worth. */
const MNEMONIC = 'test test test test test test test test test test test junk'

/** Private key of anvil's account `index` (0 to 9); each starts with 10,000 ETH. */
export const devKey = (index: number): Hex => {
  const { privateKey } = mnemonicToAccount(MNEMONIC, { addressIndex: index }).getHdKey()
  if (!privateKey) throw new Error('A private HD key always has its private part.')
  return toHex(privateKey)
}

/** Deploys the development contracts and funds accounts; no executor may use it, for its nonces. */
export const FUNDER_KEY = devKey(9)
