import { type Hex, toEventSelector } from 'viem'
import type { RpcClient } from './rpcClient.js'

export type Inclusions = {
  /** When each operation was first seen on the chain (performance.now()), by hash. Who has read an entry may delete it. */
  readonly seen: Map<Hex, number>
  /** Operations of each bundle, by transaction hash. */
  readonly bundles: ReadonlyMap<Hex, number>
  /** Resolves when all of `hashes` are on the chain; throws when nothing came for a minute. */
  all(hashes: readonly Hex[]): Promise<void>
  stop(): Promise<void>
}

const topic = toEventSelector(
  'UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)',
)
const PERIOD = 50
const PATIENCE = 60_000

type EventLog = { readonly topics: readonly Hex[]; readonly transactionHash: Hex }

/** Reads the chain's own events, so that no bundler is asked what it did. */
export async function watchInclusions(node: RpcClient, entryPoint: Hex): Promise<Inclusions> {
  const head = async () => Number((await node.call<Hex>('eth_blockNumber', [])).result)
  const seen = new Map<Hex, number>()
  const bundles = new Map<Hex, number>()
  let next = (await head()) + 1
  let stopped = false
  let lastSeen = performance.now()

  const look = async (): Promise<void> => {
    const newest = await head()
    if (newest < next) return
    const range = { fromBlock: hex(next), toBlock: hex(newest) }
    const filter = { ...range, address: entryPoint, topics: [topic] }
    const { result } = await node.call<EventLog[]>('eth_getLogs', [filter])
    next = newest + 1
    const now = performance.now()
    for (const { topics, transactionHash } of result) {
      lastSeen = now
      if (topics[1] !== undefined) seen.set(topics[1], now)
      bundles.set(transactionHash, (bundles.get(transactionHash) ?? 0) + 1)
    }
  }
  const loop = (async () => {
    while (!stopped) {
      await look()
      await new Promise((resolve) => setTimeout(resolve, PERIOD))
    }
  })()

  return {
    seen,
    bundles,
    async all(hashes) {
      lastSeen = performance.now()
      for (;;) {
        const missing = hashes.filter((hash) => !seen.has(hash)).length
        if (missing === 0) return
        if (performance.now() - lastSeen > PATIENCE)
          throw new Error(`${missing} operations were accepted and are not on the chain`)
        await new Promise((resolve) => setTimeout(resolve, PERIOD))
      }
    },
    async stop() {
      stopped = true
      await loop
    },
  }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
