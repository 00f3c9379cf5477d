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

// A new account each time: what is limited is the user, whom only the app's own server knows.
async function sendAs(user) {
  const owner = privateKeyToAccount(generatePrivateKey())
  const account = await toSimple7702SmartAccount({ client, owner })
  const bundler = createBundlerClient({
    client,
    transport: http(standardUrl),
    paymaster: createPaymasterClient({ transport: http(standardUrl) }),
    paymasterContext: { webhookData: { user } },
    pollingInterval: 200,
  })
  const hash = await bundler.sendUserOperation({
    account,
    authorization: await signAuthorization(client, account.authorization),
    calls: [{ to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' }],
  })
  return bundler.waitForUserOperationReceipt({ hash })
}

const user = `user-${Date.now()}`
const { success, userOpHash, receipt } = await sendAs(user)
console.log(`success ${success}`)
console.log(`operation ${userOpHash}`)
console.log(`transaction ${receipt.transactionHash}`)
await sendAs(user).then(
  () => console.log('the second one was sponsored too'),
  (error) => console.log(`refused ${error.details}`),
)
