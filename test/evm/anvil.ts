import type { Address, Hex } from 'viem'
import { launchAnvil } from '../../src/cli/devnet/anvilProcess.js'
import { endProcess } from '../../src/cli/devnet/processIdentity.js'
import { type BlockEnv, type Fork, fromHex, type Miss, type State } from '../../src/evm/index.js'
import { gethBinary, startGeth } from '../support/nodes/startGeth.js'

type Request = { method: string; params: unknown[] }
type Response = { id: number; result?: unknown; error?: { message: string; data?: Hex } }

export type Anvil = {
  /** One JSON-RPC call; throws what the node answers as an error. */
  request<T>(method: string, params: unknown[]): Promise<T>
  /** Many calls in one HTTP request, answered in order; errors are returned, not thrown. */
  batch(requests: Request[]): Promise<Response[]>
  stop(): Promise<void>
}

/** Starts an anvil of the given hardfork, or geth for one that anvil does not know, on a free port. */
export async function startReference(hardfork: Fork): Promise<Anvil> {
  if (hardfork !== 'amsterdam') return startAnvil(hardfork)
  const { rpcUrl, stop } = await startGeth(31_337, { amsterdamTime: 0 })
  return clientOf(rpcUrl, stop)
}

/** Whether the machine has what `startReference` starts. */
export function hasReference(hardfork: Fork): boolean {
  return hardfork !== 'amsterdam' || gethBinary() !== undefined
}

export async function startAnvil(hardfork: Fork): Promise<Anvil> {
  const options = ['--hardfork', hardfork, '--code-size-limit', '24576']
  const anvil = await launchAnvil(options, 0, () => {})
  return clientOf(`http://127.0.0.1:${anvil.port}`, async () => {
    await endProcess(anvil)
    await anvil.watchdog.dismiss()
  })
}

function clientOf(url: string, stop: () => Promise<void>): Anvil {
  const batch = (requests: Request[]) => send(url, requests)
  return {
    batch,
    request: async <T>(method: string, params: unknown[]) => {
      const [answer] = await batch([{ method, params }])
      if (answer!.error !== undefined) throw new Error(`${method}: ${answer!.error.message}`)
      return answer!.result as T
    },
    stop,
  }
}

async function send(url: string, requests: Request[]): Promise<Response[]> {
  if (requests.length === 0) return []
  const body = requests.map((request, id) => ({ jsonrpc: '2.0', id, ...request }))
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const responses = (await answer.json()) as Response[]
  return responses.sort((a, b) => a.id - b.id)
}

/** The environment of a call on the latest block. */
export async function latestBlock(anvil: Anvil, fork: Fork): Promise<BlockEnv> {
  type Block = Record<
    'number' | 'timestamp' | 'gasLimit' | 'baseFeePerGas' | 'mixHash' | 'miner',
    Hex
  >
  const block = await anvil.request<Block>('eth_getBlockByNumber', ['latest', false])
  return {
    fork,
    chainId: 31_337n,
    number: BigInt(block.number),
    timestamp: BigInt(block.timestamp),
    coinbase: block.miner.toLowerCase() as Address,
    gasLimit: BigInt(block.gasLimit),
    prevRandao: block.mixHash,
    // geth shows none to a call without a gas price.
    baseFee: fork === 'amsterdam' ? 0n : BigInt(block.baseFeePerGas),
    blobBaseFee: 1n,
    blockHash: () => undefined,
  }
}

/** State of a node's latest block, read when it was missed. */
export type NodeState = State & { fetch(misses: readonly Miss[]): Promise<void> }

export function createNodeState(anvil: Anvil): NodeState {
  const accounts = new Map<Address, ReturnType<State['account']>>()
  const slots = new Map<string, bigint>()
  return {
    account: (address) => accounts.get(address),
    slot: (address, slot) => slots.get(address + slot),
    fetch: async (misses) => {
      const answers = await anvil.batch(misses.flatMap(requestsFor))
      const values = answers.map(({ result }) => result as Hex)
      for (const miss of misses) {
        if (miss.kind === 'slot') slots.set(miss.address + miss.slot, BigInt(values.shift()!))
        else if (miss.kind === 'account') {
          const [nonce, balance, code] = values.splice(0, 3)
          const account = { nonce: BigInt(nonce!), balance: BigInt(balance!), code: fromHex(code!) }
          accounts.set(miss.address, account)
        }
      }
    },
  }
}

function requestsFor(miss: Miss): Request[] {
  if (miss.kind === 'blockHash') throw new Error('block hashes are not read here')
  const { address } = miss
  if (miss.kind === 'slot') {
    return [{ method: 'eth_getStorageAt', params: [address, miss.slot, 'latest'] }]
  }
  const methods = ['eth_getTransactionCount', 'eth_getBalance', 'eth_getCode']
  return methods.map((method) => ({ method, params: [address, 'latest'] }))
}
