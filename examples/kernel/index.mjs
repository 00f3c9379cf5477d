import { readFileSync } from 'node:fs'
import { signerToEcdsaValidator } from '@zerodev/ecdsa-validator'
import {
  createKernelAccount,
  createKernelAccountClient,
  createZeroDevPaymasterClient,
} from '@zerodev/sdk'
import { getEntryPoint, KERNEL_V3_1 } from '@zerodev/sdk/constants'
import { createPublicClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const { rpcUrl, standardUrl } = JSON.parse(
  readFileSync(process.env.PURSER_DEV ?? '../../.purser/dev.json', 'utf8'),
)

const client = createPublicClient({ chain: foundry, transport: http(rpcUrl) })
const entryPoint = getEntryPoint('0.7')
const kernelVersion = KERNEL_V3_1
const sudo = await signerToEcdsaValidator(client, {
  signer: privateKeyToAccount(generatePrivateKey()),
  entryPoint,
  kernelVersion,
})
const account = await createKernelAccount(client, { entryPoint, kernelVersion, plugins: { sudo } })

// Where a ZeroDev project has https://rpc.zerodev.app/api/v3/PROJECT/chain/1, there is Purser's URL.
const kernel = createKernelAccountClient({
  account,
  chain: foundry,
  client,
  bundlerTransport: http(standardUrl),
  paymaster: createZeroDevPaymasterClient({ chain: foundry, transport: http(standardUrl) }),
  pollingInterval: 200,
})

const hash = await kernel.sendUserOperation({
  calls: [
    { to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' },
    { to: '0x0000000000000000000000000000000000000b0b', data: '0x5678' },
  ],
})
const { success, receipt } = await kernel.waitForUserOperationReceipt({ hash })
console.log(`success ${success}`)
console.log(`operation ${hash}`)
console.log(`transaction ${receipt.transactionHash}`)
console.log(`ether of ${account.address}: ${await client.getBalance(account)}`)
