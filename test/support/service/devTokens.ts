import { type Address, createWalletClient, erc20Abi, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import type { DevToken } from '../../../src/cli/devnet/devTokens.js'
import { nodeClient } from './smartAccounts.js'

const faucetAbi = parseAbi(['function faucet(address to, uint256 amount)'])

/** The development chain's token with this symbol. */
export function tokenNamed(info: DevInfo, symbol: string): DevToken {
  const token = info.tokens.find((each) => each.symbol === symbol)
  if (token === undefined) throw new Error(`There is no ${symbol}.`)
  return token
}

/** Gives `to` so many smallest units. */
export async function giveTokens(
  info: Pick<DevInfo, 'rpcUrl'>,
  { address }: Pick<DevToken, 'address'>,
  to: Address,
  amount: bigint,
): Promise<void> {
  const account = privateKeyToAccount(devKey(4))
  const wallet = createWalletClient({ account, transport: http(info.rpcUrl) })
  const hash = await wallet.writeContract({
    abi: faucetAbi,
    chain: null,
    address,
    functionName: 'faucet',
    args: [to, amount],
  })
  await nodeClient(info).waitForTransactionReceipt({ hash })
}

/** Smallest units. */
export function tokensOf(
  info: Pick<DevInfo, 'rpcUrl'>,
  { address }: Pick<DevToken, 'address'>,
  holder: Address,
): Promise<bigint> {
  return nodeClient(info).readContract({
    abi: erc20Abi,
    address,
    functionName: 'balanceOf',
    args: [holder],
  })
}
