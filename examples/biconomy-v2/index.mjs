import { readFileSync } from 'node:fs'
import { createSmartAccountClient, PaymasterMode } from '@biconomy/account'
import { createWalletClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const { rpcUrl, bundlerUrl, paymasterUrl } = JSON.parse(
  readFileSync(process.env.PURSER_DEV ?? '../../.purser/dev.json', 'utf8'),
)

const signer = createWalletClient({
  account: privateKeyToAccount(generatePrivateKey()),
  chain: foundry,
  transport: http(rpcUrl),
})
const account = await createSmartAccountClient({
  signer,
  chainId: foundry.id,
  rpcUrl,
  bundlerUrl,
  paymasterUrl,
})

const { waitForTxHash, wait } = await account.sendTransaction(
  { to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' },
  { paymasterServiceData: { mode: PaymasterMode.SPONSORED } },
)
const { transactionHash } = await waitForTxHash()
const { success, userOpHash } = await wait()
console.log(`success ${success}`)
console.log(`operation ${userOpHash}`)
console.log(`transaction ${transactionHash}`)
