/** The endpoints of one key on one chain. */
export type Endpoints = {
  readonly chainId: number
  readonly bundlerUrl: string
  readonly paymasterUrl: string
  readonly standardUrl: string
}

export type Snippet = {
  readonly name: string
  /** What to install. */
  readonly packages: string
  readonly code: string
}

/** The addresses of the service for a key, or for the word that stands for it. */
export function endpointsOf(serviceUrl: string, chainId: number, apiKey: string): Endpoints {
  return {
    chainId,
    bundlerUrl: `${serviceUrl}/api/v2/${chainId}/${apiKey}`,
    paymasterUrl: `${serviceUrl}/api/v1/${chainId}/${apiKey}`,
    standardUrl: `${serviceUrl}/api/v3/${chainId}/${apiKey}`,
  }
}

const TARGET = '0x00000000000000000000000000000000000a11ce'

function chainOf({ chainId, standardUrl }: Endpoints): string {
  return `const url = '${standardUrl}'
const chain = defineChain({
  id: ${chainId},
  name: 'chain ${chainId}',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [url] } },
})`
}

function viem(endpoints: Endpoints): string {
  return `import { createPublicClient, defineChain, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signAuthorization } from 'viem/actions'

${chainOf(endpoints)}
const client = createPublicClient({ chain, transport: http(url) })
const owner = privateKeyToAccount(generatePrivateKey())
const account = await toSimple7702SmartAccount({ client, owner })
const bundler = createBundlerClient({
  client,
  transport: http(url),
  paymaster: createPaymasterClient({ transport: http(url) }),
})
const hash = await bundler.sendUserOperation({
  account,
  authorization: await signAuthorization(client, account.authorization),
  calls: [{ to: '${TARGET}', data: '0x1234' }],
})
console.log(await bundler.waitForUserOperationReceipt({ hash }))
`
}

function permissionless(endpoints: Endpoints): string {
  return `import { createSmartAccountClient } from 'permissionless'
import { toSimpleSmartAccount } from 'permissionless/accounts'
import { createPimlicoClient } from 'permissionless/clients/pimlico'
import { createPublicClient, defineChain, http } from 'viem'
import { entryPoint07Address } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

${chainOf(endpoints)}
const entryPoint = { address: entryPoint07Address, version: '0.7' }
const client = createPublicClient({ chain, transport: http(url) })
const account = await toSimpleSmartAccount({
  client,
  owner: privateKeyToAccount(generatePrivateKey()),
  entryPoint,
})
const smart = createSmartAccountClient({
  account,
  chain,
  client,
  bundlerTransport: http(url),
  paymaster: createPimlicoClient({ transport: http(url), entryPoint }),
})
console.log(await smart.sendTransaction({ to: '${TARGET}', data: '0x1234' }))
`
}

function biconomy({ bundlerUrl, paymasterUrl, ...endpoints }: Endpoints): string {
  const whole = { ...endpoints, bundlerUrl, paymasterUrl }
  return `import { createSmartAccountClient, PaymasterMode } from '@biconomy/account'
import { createWalletClient, defineChain, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

${chainOf(whole)}
const signer = createWalletClient({
  account: privateKeyToAccount(generatePrivateKey()),
  chain,
  transport: http(url),
})
const account = await createSmartAccountClient({
  signer,
  chainId: ${endpoints.chainId},
  rpcUrl: url,
  bundlerUrl: '${bundlerUrl}',
  paymasterUrl: '${paymasterUrl}',
})
const { wait } = await account.sendTransaction(
  { to: '${TARGET}', data: '0x1234' },
  { paymasterServiceData: { mode: PaymasterMode.SPONSORED } },
)
console.log(await wait())
`
}

function curl({ bundlerUrl }: Endpoints): string {
  return `curl -s '${bundlerUrl}' \\
  -H 'content-type: application/json' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"eth_supportedEntryPoints","params":[]}'
`
}

/** A first sponsored operation with each kit; `curl` only asks which EntryPoints there are. */
export function snippetsOf(endpoints: Endpoints): readonly Snippet[] {
  return [
    { name: 'viem', packages: 'npm install viem', code: viem(endpoints) },
    {
      name: 'permissionless',
      packages: 'npm install permissionless viem',
      code: permissionless(endpoints),
    },
    {
      name: '@biconomy/account',
      packages: 'npm install @biconomy/account@4.6.3 viem',
      code: biconomy(endpoints),
    },
    { name: 'curl', packages: '', code: curl(endpoints) },
  ]
}
