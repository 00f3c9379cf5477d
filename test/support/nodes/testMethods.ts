import {
  type Address,
  concatHex,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  keccak256,
  numberToHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { until } from '../until.js'

type Method = (...params: readonly never[]) => Promise<unknown>

/** Methods by which tests change a chain, for a node that has none of them or names them otherwise. */
export type TestMethods = Readonly<Record<string, Method>>

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>

function askerOf(rpcUrl: string): Ask {
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 0, timeout: 60_000 }) })
  return (method, ...params) => client.request({ method, params } as never)
}

const shared = [
  'setBalance',
  'setCode',
  'setNonce',
  'setStorageAt',
  'setNextBlockBaseFeePerGas',
  'setLoggingEnabled',
  'impersonateAccount',
  'stopImpersonatingAccount',
  'dropTransaction',
  'mine',
] as const

/**
 * Hardhat's node has what anvil has, by other names. It answers with an error where a transaction reverts that it
 * has mined all the same; tests want its hash.
 */
export function hardhatMethods(rpcUrl: string): TestMethods {
  const ask = askerOf(rpcUrl)
  const renamed = shared.map((name): [string, Method] => [
    `anvil_${name}`,
    (...params) => ask(`hardhat_${name}`, ...params),
  ])
  /** The transaction that the newest block holds, when `isSent` says that it is the one. */
  const mined = async (error: unknown, isSent: (transaction: Mined) => boolean): Promise<Hex> => {
    const block = await ask('eth_getBlockByNumber', 'latest', true)
    const sent = (block as { transactions: readonly Mined[] }).transactions.find(isSent)
    if (sent === undefined) throw error
    return sent.hash
  }
  return {
    ...Object.fromEntries(renamed),
    eth_sendRawTransaction: (raw: Hex) =>
      ask('eth_sendRawTransaction', raw).catch((error) =>
        mined(error, ({ hash }) => hash === keccak256(raw)),
      ),
    eth_sendTransaction: (request: Request) =>
      ask('eth_sendTransaction', request).catch((error) =>
        mined(
          error,
          ({ from, input }) => from === request.from && input === (request.data ?? '0x'),
        ),
      ),
  } as TestMethods
}

type Mined = { readonly hash: Hex; readonly from: Address; readonly input: Hex }

const GAS = 16_000_000n
/** geth takes no transaction over its RPC that could cost more than one ether. */
const FEES = { maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }

type Request = { from?: Address; to?: Address; data?: Hex; value?: Hex; gas?: Hex; nonce?: Hex }

/** Resolves when the node's pool has let go of all transactions, also of those that are mined. */
export async function untilPoolIsEmpty(ask: (method: string) => Promise<unknown>): Promise<void> {
  await until(async () => {
    const { pending, queued } = (await ask('txpool_status')) as Record<string, Hex>
    return pending === '0x0' && queued === '0x0'
  })
}

/** geth keeps no keys, gives no money and goes back by the number of a block. */
export function gethMethods(rpcUrl: string, chainId: number): TestMethods {
  const ask = askerOf(rpcUrl)
  const transport = http(rpcUrl, { retryCount: 0, timeout: 60_000 })
  const chain = defineChain({
    id: chainId,
    name: 'geth',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const accounts = Array.from({ length: 10 }, (_, at) => privateKeyToAccount(devKey(at)))
  /** Gives money; nobody else sends with its key. */
  const giver = privateKeyToAccount(devKey(4))
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other, so that each finds the nonce that the one before left. */
  function send(from: (typeof accounts)[number], { to, data, value, gas }: Request): Promise<Hex> {
    const wallet = createWalletClient({ account: from, chain, transport })
    const sending = last
      .catch(() => undefined)
      .then(async () => {
        const nonce = Number(await ask('eth_getTransactionCount', from.address, 'pending'))
        return wallet.sendTransaction({
          to: to ?? null,
          data: data ?? '0x',
          value: BigInt(value ?? 0),
          gas: BigInt(gas ?? GAS),
          nonce,
          ...FEES,
        })
      })
    last = sending
    return sending
  }

  const mined = async (hash: Hex) =>
    until(async () => (await ask('eth_getTransactionReceipt', hash)) !== null)

  let given: Promise<unknown> = Promise.resolve()

  /** One after the other: each must see what the one before gave. */
  function setBalance(address: Address, wei: Hex): Promise<boolean> {
    const giving = given.catch(() => undefined).then(() => give(address, wei))
    given = giving
    return giving
  }

  async function give(address: Address, wei: Hex): Promise<boolean> {
    const present = BigInt((await ask('eth_getBalance', address, 'latest')) as Hex)
    const missing = BigInt(wei) - present
    if (missing < 0n) throw new Error(`geth takes no money away: ${address} has ${present} wei.`)
    if (missing === 0n) return true
    // A creation that destroys itself gives to anybody, and runs no code of the beneficiary.
    const data = concatHex(['0x73', address, '0xff'])
    await mined(await send(giver, { data, value: numberToHex(missing) }))
    return true
  }

  /** A withdrawal of nothing makes a block. */
  async function mine(blocks: Hex = '0x1'): Promise<boolean> {
    for (let left = Number(blocks); left > 0; left--) {
      const before = await ask('eth_blockNumber')
      const nobody = `0x${'00'.repeat(20)}`
      await ask('dev_addWithdrawal', {
        index: '0x0',
        validatorIndex: '0x0',
        address: nobody,
        amount: '0x0',
      })
      await until(async () => (await ask('eth_blockNumber')) !== before)
    }
    return true
  }

  return {
    anvil_setBalance: setBalance as Method,
    anvil_setLoggingEnabled: async () => true,
    anvil_mine: mine as Method,
    evm_mine: mine as Method,
    evm_snapshot: () => ask('eth_blockNumber'),
    evm_revert: async (number: Hex) => {
      // What the pool has not let go yet it would send again.
      await untilPoolIsEmpty(ask)
      await ask('debug_setHead', number)
      // The pool goes back behind the chain, on its own time.
      for (const { address } of accounts) {
        const count = (block: string) => ask('eth_getTransactionCount', address, block)
        await until(async () => (await count('pending')) === (await count('latest')))
      }
      return true
    },
    eth_sendTransaction: (async (request: Request) => {
      const from = accounts.find(
        ({ address }) => address.toLowerCase() === request.from?.toLowerCase(),
      )
      if (from === undefined) throw new Error(`nobody has the key of ${request.from}`)
      return send(from, request)
    }) as Method,
  } as TestMethods
}
