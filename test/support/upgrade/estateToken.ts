import { parseUnits } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { DETERMINISTIC_DEPLOYER } from '../../../src/contracts/deployments.js'
import { devTokens } from '../../../src/devnet/devTokens.js'
import { devWallet } from '../../../src/devnet/devWallet.js'
import type { PublicChain } from '../chain/publicChain.js'
import { devAccount } from '../service/devAccount.js'
import { giveTokens } from '../service/devTokens.js'
import { paidInTokens } from '../service/paidInTokens.js'
import type { EstateToken } from './estate.js'

/** Puts the token on a chain that has none. */
export async function deployToken({
  rpcUrl,
}: PublicChain): Promise<Omit<EstateToken, 'tank' | 'payments'>> {
  const [token] = devTokens
  if (token === undefined) throw new Error('no token is known')
  const { address, symbol, decimals, deployData } = token
  const wallet = await devWallet(rpcUrl)
  const hash = await wallet.sendTransaction({ to: DETERMINISTIC_DEPLOYER, data: deployData })
  await wallet.waitForTransactionReceipt({ hash })
  return { address, symbol, decimals }
}

/** A signed operation of a new account that has 100 of the token and nothing else. */
export async function preparePayment(
  info: DevInfo,
  seed: string,
  token: Omit<EstateToken, 'payments'>,
) {
  const { account } = await devAccount(info, seed)
  await giveTokens(info, token, account.address, parseUnits('100', token.decimals))
  return paidInTokens(info, seed, token)
}
