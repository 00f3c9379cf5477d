import { readFileSync } from 'node:fs'
import { createPublicClient, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'

const { rpcUrl, standardUrl } = JSON.parse(
  readFileSync(process.env.PURSER_DEV ?? '../../.purser/dev.json', 'utf8'),
)

const client = createPublicClient({ chain: foundry, transport: http(rpcUrl) })
const owner = privateKeyToAccount(generatePrivateKey())
const account = await toSimple7702SmartAccount({ client, owner })
const bundler = createBundlerClient({
  client,
  transport: http(standardUrl),
  paymaster: createPaymasterClient({ transport: http(standardUrl) }),
  pollingInterval: 200,
})

const hash = await bundler.sendUserOperation({
  account,
  // The first operation turns the key's address into a smart account. Later ones need no authorization.
  authorization: await signAuthorization(client, account.authorization),
  calls: [
    { to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' },
    { to: '0x0000000000000000000000000000000000000b0b', data: '0x5678' },
  ],
})
const { success, receipt } = await bundler.waitForUserOperationReceipt({ hash })
console.log(`success ${success}`)
console.log(`operation ${hash}`)
console.log(`transaction ${receipt.transactionHash}`)
console.log(`ether of ${account.address}: ${await client.getBalance(account)}`)
