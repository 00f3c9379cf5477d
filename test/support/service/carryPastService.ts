import { type Address, createWalletClient, http, parseEventLogs } from 'viem'
import {
  entryPoint08Abi,
  toPackedUserOperation,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import { fund, nodeClient } from './smartAccounts.js'

/**
 * Carries a signed operation of v0.7 or later to the chain as any stranger can, without the service.
 * Returns the EntryPoint's account of it.
 */
export async function carryPastService(
  info: DevInfo,
  operation: UserOperation<'0.7'>,
  entryPoint: Address,
) {
  const stranger = privateKeyToAccount(keyFromSeed('stranger'))
  await fund(info, stranger.address)
  const wallet = createWalletClient({
    account: stranger,
    chain: foundry,
    transport: http(info.rpcUrl),
  })
  const hash = await wallet.writeContract({
    address: entryPoint,
    abi: entryPoint08Abi,
    functionName: 'handleOps',
    args: [[toPackedUserOperation(operation)], stranger.address],
  })
  const { logs } = await nodeClient(info).waitForTransactionReceipt({ hash })
  const [event] = parseEventLogs({
    abi: entryPoint08Abi,
    eventName: 'UserOperationEvent',
    logs,
  })
  if (event === undefined) throw new Error('the operation was not included')
  return event.args
}
