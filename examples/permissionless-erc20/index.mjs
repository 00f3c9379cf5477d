import { readFileSync } from 'node:fs'
import { createSmartAccountClient } from 'permissionless'
import { toSimpleSmartAccount } from 'permissionless/accounts'
import { createPimlicoClient } from 'permissionless/clients/pimlico'
import { prepareUserOperationForErc20Paymaster } from 'permissionless/experimental/pimlico'
import {
  createPublicClient,
  createTestClient,
  erc20Abi,
  formatUnits,
  http,
  parseAbi,
  parseUnits,
  walletActions,
} from 'viem'
import { entryPoint07Address } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const { rpcUrl, standardUrl, tokens } = JSON.parse(
  readFileSync(process.env.PURSER_DEV ?? '../../.purser/dev.json', 'utf8'),
)
const [token] = tokens

const client = createPublicClient({ chain: foundry, transport: http(rpcUrl), pollingInterval: 200 })
const account = await toSimpleSmartAccount({
  client,
  owner: privateKeyToAccount(generatePrivateKey()),
  entryPoint: { address: entryPoint07Address, version: '0.7' },
})

// Purser answers the methods of Pimlico's client: only the URL changes.
const pimlico = createPimlicoClient({
  chain: foundry,
  transport: http(standardUrl),
  entryPoint: { address: entryPoint07Address, version: '0.7' },
})
const smartAccount = createSmartAccountClient({
  account,
  chain: foundry,
  bundlerTransport: http(standardUrl),
  pollingInterval: 200,
  paymaster: pimlico,
  paymasterContext: { token: token.address },
  userOperation: {
    estimateFeesPerGas: async () => (await pimlico.getUserOperationGasPrice()).fast,
    // Asks for a quote and puts the approval of that amount before the call.
    prepareUserOperation: prepareUserOperationForErc20Paymaster(pimlico),
  },
})

// The development chain's token has an open faucet.
const faucet = createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) }).extend(
  walletActions,
)
const [payer] = await faucet.getAddresses()
const given = await faucet.writeContract({
  account: payer,
  address: token.address,
  abi: parseAbi(['function faucet(address to, uint256 amount)']),
  functionName: 'faucet',
  args: [account.address, parseUnits('100', token.decimals)],
})
await client.waitForTransactionReceipt({ hash: given })

const balance = () =>
  client.readContract({
    address: token.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account.address],
  })
const before = await balance()
const hash = await smartAccount.sendUserOperation({
  calls: [{ to: '0x00000000000000000000000000000000000a11ce', data: '0x1234' }],
})
const { success, receipt } = await smartAccount.waitForUserOperationReceipt({ hash })
const paid = before - (await balance())
console.log(`success ${success}`)
console.log(`operation ${hash}`)
console.log(`transaction ${receipt.transactionHash}`)
console.log(`paid ${formatUnits(paid, token.decimals)} ${token.symbol}`)
console.log(`ether of ${account.address}: ${await client.getBalance(account)}`)
