import { readFileSync } from 'node:fs'
import { createSmartAccountClient } from 'permissionless'
import { toSafeSmartAccount } from 'permissionless/accounts'
import { createPublicClient, http } from 'viem'
import { createPaymasterClient, entryPoint07Address } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const { rpcUrl, standardUrl } = JSON.parse(
  readFileSync(process.env.PURSER_DEV ?? '../../.purser/dev.json', 'utf8'),
)

const client = createPublicClient({ chain: foundry, transport: http(rpcUrl) })
const owners = [generatePrivateKey(), generatePrivateKey()].map(privateKeyToAccount)
const account = await toSafeSmartAccount({
  client,
  owners,
  threshold: 2n,
  version: '1.4.1',
  entryPoint: { address: entryPoint07Address, version: '0.7' },
})
const safe = createSmartAccountClient({
  account,
  chain: foundry,
  bundlerTransport: http(standardUrl),
  paymaster: createPaymasterClient({ transport: http(standardUrl) }),
  pollingInterval: 200,
})

// The first operation also creates the Safe.
for (const step of ['creates the Safe', 'uses it']) {
  const hash = await safe.sendUserOperation({
    calls: [{ to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' }],
  })
  const { success, receipt } = await safe.waitForUserOperationReceipt({ hash })
  console.log(`success ${success} (${step})`)
  console.log(`operation ${hash}`)
  console.log(`transaction ${receipt.transactionHash}`)
}
console.log(`ether of ${account.address}: ${await client.getBalance(account)}`)
