import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type BiconomySmartAccountV2,
  createBundler,
  createERC20SessionDatum,
  createSessionKeyManagerModule,
  createSmartAccountClient,
  DEFAULT_SESSION_KEY_MANAGER_MODULE,
  getCustomChain,
  PaymasterMode,
  StorageType,
} from '@biconomy/account'
import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  numberToHex,
  parseAbiParameters,
  parseEther,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { placeBiconomyContracts } from '../../src/cli/devnet/biconomyContracts.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import {
  makeDataFolder,
  type RunningPurser,
  removeDataFolder,
  startPurser,
} from '../support/service/startPurser.js'
import { placeSessionModules } from './support/placeSessionModules.js'

/*
 * The unmodified SDK from npm against the running service. Only its download of an error catalogue
 * is intercepted, because it lives outside; the answer is a catalogue in the same form.
 */
const CATALOGUE = 'https://raw.githubusercontent.com/bcnmy/aa-errors/main/docs/errors.json'
const catalogue = ['aa21', 'aa23', 'aa24', 'aa25', 'aa33'].map((regex) => ({
  regex,
  name: `catalogue entry ${regex}`,
  description: `known as ${regex}`,
  causes: [],
  solutions: [],
}))
const realFetch = globalThis.fetch

const OWNER_1: Hex = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const TARGET: Address = '0x00000000000000000000000000000000000a11ce'

let purser: RunningPurser
let folder: string
let hook: Server
let hookUrl: string
let hookAnswer: unknown
let hookCalls: { method: string | undefined; url: string; body: string }[]

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

function chainOf(rpcUrl: string) {
  return getCustomChain('local', 31337, rpcUrl, 'http://127.0.0.1')
}

function node() {
  return createPublicClient({ chain: foundry, transport: http(purser.info.rpcUrl) })
}
function tester() {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(purser.info.rpcUrl) })
}

/** An SDK account; polling is only made quicker, by the SDK's own options. */
async function account(key: Hex, sponsored: boolean): Promise<BiconomySmartAccountV2> {
  const { bundlerUrl, paymasterUrl, rpcUrl } = purser.info
  const chain = chainOf(rpcUrl)
  const signer = createWalletClient({
    account: privateKeyToAccount(key),
    chain,
    transport: http(rpcUrl),
  })
  const bundler = await createBundler({
    bundlerUrl,
    userOpReceiptIntervals: { 31337: 200 },
    userOpWaitForTxHashIntervals: { 31337: 100 },
    customChain: chain,
  })
  return createSmartAccountClient({
    signer,
    bundler,
    rpcUrl,
    customChain: chain,
    ...(sponsored ? { paymasterUrl } : {}),
  })
}

function webhookApi(method: string, body: unknown) {
  return fetch(`${purser.info.webhookApiUrl}/api/v2/public/sdk/webhook`, {
    method,
    headers: {
      'content-type': 'application/json',
      authToken: purser.info.authToken,
      apiKey: purser.info.apiKey,
    },
    body: JSON.stringify(body),
  }).then((response) => response.json() as Promise<{ data: { webhookId: string } }>)
}

beforeAll(async () => {
  globalThis.fetch = (input, init) =>
    String(input) === CATALOGUE ? Promise.resolve(Response.json(catalogue)) : realFetch(input, init)
  folder = makeDataFolder()
  purser = await startPurser(folder)
  await placeBiconomyContracts(purser.info.rpcUrl)
  hook = createServer(async (request, response) => {
    hookCalls.push({
      method: request.method,
      url: request.url ?? '',
      body: await readBody(request),
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(hookAnswer))
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/approve`
})

afterAll(async () => {
  globalThis.fetch = realFetch
  await purser?.end('SIGTERM')
  hook?.close()
  removeDataFolder(folder)
})

beforeEach(() => {
  hookCalls = []
  hookAnswer = { arePoliciesVerified: true }
})

const sponsoredMode = { paymasterServiceData: { mode: PaymasterMode.SPONSORED } }

describe('@biconomy/account 4.6.3', () => {
  test('agrees with the SDK about the counterfactual address', async () => {
    const client = await account(OWNER_1, false)
    expect(await client.getAccountAddress()).toBe('0x9d7D81B4eecDf15CEb00bA42284EA36f8BE68B90')
  })

  test('a counterfactual account is deployed by its first sponsored operation', async () => {
    const client = await account(generatePrivateKey(), true)
    const sender = await client.getAccountAddress()
    expect(await node().getCode({ address: sender })).toBeUndefined()
    const response = await client.sendTransaction({ to: TARGET, data: '0x1234' }, sponsoredMode)
    const { transactionHash } = await response.waitForTxHash()
    const receipt = await response.wait()
    expect(receipt.success).toBe('true')
    expect(receipt.userOpHash).toBe(response.userOpHash)
    expect(receipt.receipt.transactionHash).toBe(transactionHash)
    expect(await node().getCode({ address: sender })).toMatch(/^0x/)
    expect(await node().getBalance({ address: sender })).toBe(0n)
    const paid = (receipt as unknown as { paymaster: string }).paymaster
    expect(paid.toLowerCase()).toBe(purser.info.tanks['0.6']?.toLowerCase())
  })

  test('a self-paid batch moves its values', async () => {
    const client = await account(generatePrivateKey(), false)
    await tester().setBalance({ address: await client.getAccountAddress(), value: parseEther('1') })
    const targets: Address[] = [`0x${'b1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
    const response = await client.sendTransaction(
      targets.map((to, index) => ({ to, value: BigInt(index + 1) })),
    )
    expect((await response.wait()).success).toBe('true')
    const balances = await Promise.all(targets.map((address) => node().getBalance({ address })))
    expect(balances).toEqual([1n, 2n])
  })

  test.each([true, false])(
    'calculateGasLimits %s gives an operation that is included',
    async (calculateGasLimits) => {
      const client = await account(generatePrivateKey(), true)
      const response = await client.sendTransaction(
        { to: TARGET, data: '0x' },
        { paymasterServiceData: { mode: PaymasterMode.SPONSORED, calculateGasLimits } },
      )
      expect((await response.wait()).success).toBe('true')
    },
  )

  test('simulation with execution is accepted', async () => {
    const client = await account(generatePrivateKey(), true)
    const response = await client.sendTransaction(
      { to: TARGET, data: '0x' },
      { ...sponsoredMode, simulationType: 'validation_and_execution' },
    )
    expect((await response.wait()).success).toBe('true')
  })

  test('an estimate with a state override is answered', async () => {
    const client = await account(generatePrivateKey(), false)
    const sender = await client.getAccountAddress()
    const plain = await client.buildUserOp([{ to: TARGET, data: '0x' }])
    const callData = await client.encodeExecute(TARGET, parseEther('1'), '0x')
    const transfer = { ...plain, callData }
    await expect(client.estimateUserOpGas(transfer)).rejects.toThrow(/reverted/)
    const operation = await client.estimateUserOpGas(transfer, {
      [sender]: { balance: numberToHex(parseEther('2')) },
    } as never)
    expect(Number(operation.callGasLimit)).toBeGreaterThan(20_000)
    expect(Number(operation.preVerificationGas)).toBeGreaterThan(20_000)
    expect(Number(operation.maxFeePerGas)).toBeGreaterThan(0)
  })

  describe.each(['POST', 'GET'])('webhook by %s', (requestType) => {
    test('approves and denies', async () => {
      const { data } = await webhookApi('POST', { webhookUrl: hookUrl, requestType })
      try {
        const webhookData = { user: 'alice', amount: 7 }
        const client = await account(generatePrivateKey(), true)
        const options = {
          paymasterServiceData: { mode: PaymasterMode.SPONSORED, webhookData },
        } as never
        const approved = await client.sendTransaction({ to: TARGET, data: '0x' }, options)
        expect((await approved.wait()).success).toBe('true')
        expect(hookCalls).toHaveLength(1)
        const [call] = hookCalls
        expect(call?.method).toBe(requestType)
        const carried =
          requestType === 'POST'
            ? JSON.parse(call?.body ?? '').data
            : JSON.parse(new URL(call?.url ?? '', hookUrl).searchParams.get('data') ?? '')
        expect(carried).toEqual(webhookData)

        hookAnswer = { arePoliciesVerified: false }
        const refused = await account(generatePrivateKey(), true)
        const operation = await refused.buildUserOp([{ to: TARGET, data: '0x' }], options)
        expect(operation.paymasterAndData).toBe('0x')
        expect(Number(operation.callGasLimit)).toBeGreaterThan(0)
        expect(hookCalls).toHaveLength(2)
      } finally {
        await webhookApi('DELETE', { webhookId: data.webhookId })
      }
    })
  })

  test('a session key transfers what its session allows, to nobody else', async () => {
    await placeSessionModules(purser.info.rpcUrl)
    const token = tokenNamed(purser.info, 'tUSD')
    const client = await account(generatePrivateKey(), true)
    const sender = await client.getAccountAddress()
    await giveTokens(purser.info, token, sender, 500n)
    const sessionSigner = createWalletClient({
      account: privateKeyToAccount(generatePrivateKey()),
      chain: chainOf(purser.info.rpcUrl),
      transport: http(purser.info.rpcUrl),
    })
    const receiver: Address = `0x${'5e'.repeat(20)}`
    const { address } = sessionSigner.account
    const sessionKeyData = encodeAbiParameters(
      parseAbiParameters('address, address, address, uint256'),
      [address, token.address, receiver, 300n],
    )
    const manager = await createSessionKeyManagerModule({
      smartAccountAddress: sender,
      storageType: StorageType.MEMORY_STORAGE,
    })
    const session = createERC20SessionDatum({
      interval: { validUntil: 0, validAfter: 0 },
      sessionKeyAddress: address,
      sessionKeyData,
    })
    const { data, sessionIDInfo } = await manager.createSessionData([session])
    const enabling = await client.getEnableModuleData(DEFAULT_SESSION_KEY_MANAGER_MODULE)
    const allowing = { to: DEFAULT_SESSION_KEY_MANAGER_MODULE, data }
    const allowed = await client.sendTransaction([enabling, allowing], sponsoredMode)
    expect((await allowed.wait()).success).toBe('true')

    client.setActiveValidationModule(manager)
    const options = { ...sponsoredMode, params: { sessionSigner, sessionID: sessionIDInfo[0]! } }
    const transfer = (to: Address, amount: bigint) => ({
      to: token.address,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
    })
    const sent = await client.sendTransaction(transfer(receiver, 300n), options)
    expect((await sent.wait()).success).toBe('true')
    expect(await tokensOf(purser.info, token, receiver)).toBe(300n)
    for (const [to, amount, reason] of [
      [TARGET, 1n, 'ERC20SV Wrong Recipient'],
      [receiver, 301n, 'ERC20SV Max Amount Exceeded'],
    ] as const)
      await expect(client.sendTransaction(transfer(to, amount), options)).rejects.toThrow(reason)
  })

  test('an operation that reverts in execution has the receipt success "false"', async () => {
    const client = await account(generatePrivateKey(), true)
    const address = await client.getAccountAddress()
    await tester().setBalance({ address, value: parseEther('5') })
    const transfer = { to: TARGET, value: parseEther('5') }
    const operation = await client.buildUserOp([transfer], sponsoredMode)
    // Between building and sending the account loses what it wants to send.
    await tester().setBalance({ address, value: 0n })
    const response = await client.sendUserOp(operation)
    const receipt = await response.wait()
    expect(receipt.success).toBe('false')
  })

  test('an error shows its AA code through the SDK', async () => {
    const client = await account(generatePrivateKey(), false)
    const operation = await client.buildUserOp([{ to: TARGET, data: '0x' }])
    await expect(client.sendUserOp(operation)).rejects.toThrow(/catalogue entry aa21[\s\S]*AA21/)
  })

  test('several operations of several accounts at once are all included', async () => {
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => account(generatePrivateKey(), true)),
    )
    const receipts = await Promise.all(
      clients.map(async (client) => {
        const response = await client.sendTransaction({ to: TARGET, data: '0x' }, sponsoredMode)
        return response.wait()
      }),
    )
    expect(receipts.map((receipt) => receipt.success)).toEqual(Array(5).fill('true'))
  })
})
