// A wallet for the development chain, where those of the browser's extensions have no bundler: an account of EIP-7702
// that speaks EIP-5792 and asks the app's paymaster (ERC-7677), as they do. It announces itself by EIP-6963.
import { createPublicClient, http, toHex } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { getCode, signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'

export function announceDevelopmentWallet({ rpcUrl, bundlerUrl }) {
  const client = createPublicClient({ chain: foundry, transport: http(rpcUrl) })
  const owner = privateKeyToAccount(generatePrivateKey())
  const bundler = createBundlerClient({ client, transport: http(bundlerUrl) })
  const chainId = toHex(foundry.id)

  async function send({ calls, capabilities }) {
    const service = capabilities?.paymasterService
    const account = await toSimple7702SmartAccount({ client, owner })
    const isDelegated = (await getCode(client, { address: owner.address })) !== undefined
    const id = await bundler.sendUserOperation({
      account,
      calls: calls.map(({ to, data, value }) => ({ to, data, value: BigInt(value ?? 0) })),
      ...(service && {
        paymaster: createPaymasterClient({ transport: http(service.url) }),
        paymasterContext: service.context,
      }),
      ...(!isDelegated && {
        authorization: await signAuthorization(client, account.authorization),
      }),
    })
    return { id }
  }

  async function statusOf(id) {
    const found = await bundler.getUserOperationReceipt({ hash: id }).catch(() => undefined)
    const common = { version: '2.0.0', id, chainId, atomic: true }
    if (found === undefined) return { ...common, status: 100 }
    const { blockHash, blockNumber, gasUsed, transactionHash } = found.receipt
    const receipt = {
      logs: found.logs.map(({ address, topics, data }) => ({ address, topics, data })),
      status: found.success ? '0x1' : '0x0',
      blockHash,
      blockNumber: toHex(blockNumber),
      gasUsed: toHex(gasUsed),
      transactionHash,
    }
    return { ...common, status: found.success ? 200 : 500, receipts: [receipt] }
  }

  const methods = {
    eth_requestAccounts: () => [owner.address],
    eth_accounts: () => [owner.address],
    wallet_getCapabilities: () => ({
      [chainId]: { atomic: { status: 'supported' }, paymasterService: { supported: true } },
    }),
    wallet_sendCalls: ([request]) => send(request),
    wallet_getCallsStatus: ([id]) => statusOf(id),
  }
  const provider = {
    request: async ({ method, params = [] }) =>
      Object.hasOwn(methods, method) ? methods[method](params) : client.request({ method, params }),
    on() {},
    removeListener() {},
  }
  const info = {
    uuid: crypto.randomUUID(),
    name: 'Development wallet',
    icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>',
    rdns: 'example.development.wallet',
  }
  const announce = () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }))
  addEventListener('eip6963:requestProvider', announce)
  announce()
}
