import { createPublicClient, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'

/**
 * One sponsored operation of a new account on EntryPoint v0.8, by viem as its users write it; its receipt.
 * @param standardUrl with the key of the app that is to pay
 * @param callGasLimit as estimated unless it is given
 */
export async function sponsoredByViem(
  { chainId, rpcUrl, ...info }: Pick<DevInfo, 'chainId' | 'rpcUrl' | 'standardUrl'>,
  seed: string,
  standardUrl = info.standardUrl,
  callGasLimit?: bigint,
) {
  const chain = { ...foundry, id: chainId, rpcUrls: { default: { http: [rpcUrl] } } }
  const client = createPublicClient({ chain, transport: http(rpcUrl) })
  const owner = privateKeyToAccount(keyFromSeed(seed))
  const account = await toSimple7702SmartAccount({ client, owner })
  const bundler = createBundlerClient({
    client,
    transport: http(standardUrl),
    paymaster: createPaymasterClient({ transport: http(standardUrl) }),
  })
  const hash = await bundler.sendUserOperation({
    account,
    authorization: await signAuthorization(client, account.authorization),
    calls: [{ to: TARGET, data: '0x1234' }],
    callGasLimit,
  })
  return bundler.waitForUserOperationReceipt({ hash, pollingInterval: 100 })
}
