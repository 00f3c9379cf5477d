import { createRequire } from 'node:module'
import { type Address, type Hex, numberToHex, parseEventLogs, zeroAddress } from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { beforeAll, describe, expect, test } from 'vitest'
import { TARGET } from '../support/service/devAccount.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { ownerOf } from './support/accountFamily.js'
import { placeKernel } from './support/placeKernel.js'
import { placeSafe } from './support/placeSafe.js'

/* Web3Auth's provider (MetaMask Embedded Wallets): pages send transactions, which it makes operations of. */

type Request = { readonly method: string; readonly params?: readonly unknown[] }
type Provider = { request(request: Request): Promise<unknown> }

/** What the tests use of the package. Its declarations make every address of viem a string, in this whole program. */
type Kit = {
  readonly AccountAbstractionProvider: {
    getProviderInstance(options: object): Promise<Provider>
  }
  readonly SafeSmartAccount: new () => object
  readonly KernelSmartAccount: new (options: object) => object
}

const kit = createRequire(import.meta.url)('@web3auth/account-abstraction-provider') as Kit
const info = usePurser()

beforeAll(async () => {
  await placeSafe(info().rpcUrl)
  await placeKernel(info().rpcUrl)
})

/** The wallet of a page, which has the key that owns the account. */
function walletOf(owner: ReturnType<typeof ownerOf>): Provider & { once(): void } {
  const sign: Record<string, (params: readonly unknown[]) => Promise<Hex>> = {
    personal_sign: ([raw]) => owner.signMessage({ message: { raw: raw as Hex } }),
    eth_signTypedData_v4: ([, typed]) => owner.signTypedData(JSON.parse(typed as string)),
  }
  return {
    once: () => {},
    async request({ method, params = [] }) {
      if (method === 'eth_accounts' || method === 'eth_requestAccounts') return [owner.address]
      if (method === 'eth_chainId') return numberToHex(info().chainId)
      const signed = sign[method]
      if (signed === undefined) throw new Error(`The wallet has no ${method}.`)
      return signed(params)
    },
  }
}

const accounts = {
  Safe: () => new kit.SafeSmartAccount(),
  Kernel: () =>
    new kit.KernelSmartAccount({
      version: '0.3.1',
      entryPoint: { address: info().entryPoints['0.7'], version: '0.7' },
    }),
}

/** Its provider for a new account, and the account. */
async function open(name: keyof typeof accounts, seed: string, payment: object = {}) {
  const { chainId, rpcUrl, standardUrl } = info()
  const provider = await kit.AccountAbstractionProvider.getProviderInstance({
    eoaProvider: walletOf(ownerOf(`web3auth ${name} ${seed}`)),
    smartAccountInit: accounts[name](),
    chainConfig: {
      chainNamespace: 'eip155',
      chainId: numberToHex(chainId),
      rpcTarget: rpcUrl,
      displayName: 'Development',
      ticker: 'ETH',
      tickerName: 'Ether',
    },
    bundlerConfig: { url: standardUrl, pollingInterval: 100 },
    ...payment,
  })
  const [address] = (await provider.request({ method: 'eth_accounts' })) as [Address]
  return { provider, address }
}

/** What the operation of one transaction did. */
async function send({ provider, address }: Awaited<ReturnType<typeof open>>) {
  const transaction = { from: address, to: TARGET, value: '0x0', data: '0x1234' }
  const params = [transaction]
  const hash = (await provider.request({ method: 'eth_sendTransaction', params })) as Hex
  const { logs } = await nodeClient(info()).getTransactionReceipt({ hash })
  const events = parseEventLogs({ abi: entryPoint07Abi, eventName: 'UserOperationEvent', logs })
  const { sender, success, paymaster } = events.find(({ args }) => args.sender === address)!.args
  return { sender, success, paymaster: paymaster.toLowerCase() }
}

describe.each(['Safe', 'Kernel'] as const)('Web3Auth with %s', (name) => {
  test('pays for itself', async () => {
    const opened = await open(name, 'self-paid')
    await fund(info(), opened.address)
    for (const _ of ['creating', 'created'])
      expect(await send(opened)).toMatchObject({ success: true, paymaster: zeroAddress })
  })

  test('is sponsored', async () => {
    const payment = { paymasterConfig: { url: info().standardUrl } }
    const opened = await open(name, 'sponsored', payment)
    for (const _ of ['creating', 'created'])
      expect(await send(opened)).toMatchObject({ success: true, paymaster: info().tanks['0.7'] })
    expect(await nodeClient(info()).getBalance({ address: opened.address })).toBe(0n)
  })
})
