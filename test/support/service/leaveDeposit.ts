import { type Address, createWalletClient, http, parseAbi } from 'viem'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import { TARGET } from './devAccount.js'
import { nodeClient } from './smartAccounts.js'

const abi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function withdrawTo(address, uint256)',
])

/** Leaves a tank of the development chain `wei` of its deposit in the EntryPoint. */
export async function leaveDeposit(
  info: DevInfo,
  entryPoint: Address,
  tank: Address,
  wei: bigint,
): Promise<void> {
  const client = nodeClient(info)
  const deposit = await client.readContract({
    address: entryPoint,
    abi,
    functionName: 'balanceOf',
    args: [tank],
  })
  const anvil = anvilClient(info.rpcUrl)
  await anvil.setBalance({ address: tank, value: 10n ** 18n })
  await anvil.impersonateAccount({ address: tank })
  const wallet = createWalletClient({ account: tank, chain: foundry, transport: http(info.rpcUrl) })
  const hash = await wallet.writeContract({
    address: entryPoint,
    abi,
    functionName: 'withdrawTo',
    args: [TARGET, deposit - wei],
  })
  await client.waitForTransactionReceipt({ hash })
}
