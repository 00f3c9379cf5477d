/**
 * The time from "send" to "done" by stage, for clients that ask for the receipt again and again and for those that wait in one
 * request: where a block comes every second, and where a sequencer promises one every 200 ms (preconfirmations).
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Hex } from 'viem'
import { createEntryPoint } from '../src/erc4337/createEntryPoint.js'
import { type EndedOperation, readEnded } from '../src/records/endedOperations.js'
import { startPromisingNode } from '../test/support/chain/promisingNode.js'
import { createFleet, type Prepared } from './load/fleet.js'
import { openLoadChain } from './load/loadChain.js'
import { send } from './load/measureLoad.js'
import { measureWaits } from './load/openWaits.js'
import { type OwnService, startOwnService } from './load/ownService.js'
import { createRpcClient, type RpcClient } from './load/rpcClient.js'
import { type Latency, latencyOf } from './load/statistics.js'
import { type Inclusions, watchInclusions } from './load/watchInclusions.js'

const VERSION = '0.7'
/** Milliseconds between two questions for a receipt. */
const POLL = 200
/** Milliseconds after which a sequencer makes a block of what it has promised. */
const BLOCK = 2_000
/** Milliseconds: p50 and p99 from send to receipt on promises, at 200 operations a second. */
const GOAL = { p50: 350, p99: 700 }

const ways = ['poll', 'sync'] as const
const chains = { slow: 'blocks of 1 s', promised: 'pending blocks of 200 ms' } as const
const stages = ['sponsor', 'send', 'bundle', 'broadcast', 'seen', 'receipt', 'total'] as const

type Way = (typeof ways)[number]
type Kind = keyof typeof chains
type Stages = Record<(typeof stages)[number], Latency>
type Place = {
  readonly bundler: RpcClient
  readonly entryPoint: ReturnType<typeof createEntryPoint>
  readonly service: OwnService
  readonly inclusions: Inclusions
  readonly chainId: number
}
type Figures = { readonly chain: string; readonly way: Way; readonly stages: Stages }

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '200' },
    accounts: { type: 'string', default: '300' },
    waits: { type: 'string', default: '0' },
    json: { type: 'string' },
  },
})
const [operations, rate] = [Number(values.operations), Number(values.rate)]
const [accounts, waits] = [Number(values.accounts), Number(values.waits)]

/** Unix milliseconds with their fraction. */
const now = (): number => performance.timeOrigin + performance.now()

/** Sends an operation and returns as soon as the client has its receipt, of a promised block where there are promises. */
async function receive({ bundler, entryPoint }: Place, way: Way, op: Prepared): Promise<void> {
  if (way === 'sync') {
    const terms = { timeout: 60_000, until: 'preconfirmed' }
    await bundler.call('eth_sendUserOperationSync', [op.wire, entryPoint.address, terms])
    return
  }
  await send({ bundler, entryPoint }, op)
  const asked = () => bundler.call('eth_getUserOperationReceipt', [op.hash, 'pending'])
  while ((await asked()).result === null) await delay(POLL)
}

/** All operations as the database has them, once all have ended. */
async function endsOf({ service, chainId }: Place, hashes: readonly Hex[]) {
  for (;;) {
    const ended = await readEnded(service.database, chainId, hashes)
    if (ended.length === hashes.length) return new Map(ended.map((each) => [each.hash, each]))
    await delay(500)
  }
}

/** Operations at a steady rate, whether earlier ones are done or not. */
async function measure(place: Place, way: Way, prepared: readonly Prepared[]) {
  const begun = new Map<Hex, number>()
  const done = new Map<Hex, number>()
  const start = now()
  const running = prepared.map(async (op, index) => {
    await delay(start + (index * 1_000) / rate - now())
    begun.set(op.hash, now())
    await receive(place, way, op)
    done.set(op.hash, now())
  })
  await Promise.all(running)
  const hashes = prepared.map(({ hash }) => hash)
  await place.inclusions.all(hashes)
  const ends = await endsOf(place, hashes)
  const seen = (hash: Hex) => performance.timeOrigin + (place.inclusions.seen.get(hash) ?? 0)
  /** When each stage of an operation ended, from its beginning on. */
  const timesOf = (hash: Hex): readonly number[] => {
    const { receivedAt, bundledAt, sentAt } = ends.get(hash) as EndedOperation
    const stored = [receivedAt, bundledAt, sentAt].map((time) => time?.getTime() ?? Number.NaN)
    return [begun.get(hash) ?? Number.NaN, ...stored, seen(hash), done.get(hash) ?? Number.NaN]
  }
  const times = hashes.map(timesOf)
  const between = (from: number, to: number): Latency =>
    latencyOf(times.map((each) => (each[to] ?? 0) - (each[from] ?? 0)))
  return {
    send: between(0, 1),
    bundle: between(1, 2),
    broadcast: between(2, 3),
    seen: between(3, 4),
    receipt: between(4, 5),
    total: between(0, 5),
  }
}

async function measureChain(kind: Kind): Promise<{ figures: Figures[]; heldByWaits: number }> {
  const chain = await openLoadChain(undefined, kind)
  const promising = kind === 'promised' ? await startPromisingNode(chain.rpcUrl) : undefined
  const { chainId, entryPoints, factories } = chain
  const [address, factory] = [entryPoints[VERSION], factories[VERSION]]
  if (address === undefined || factory === undefined) throw new Error('the chain has no EntryPoint')
  const node = createRpcClient(chain.rpcUrl, 4)
  const service = await startOwnService({
    chainId,
    rpcUrl: promising?.url ?? chain.rpcUrl,
    entryPoints: [{ version: VERSION, address }],
    version: VERSION,
    payer: 'tank',
    executors: 4,
    facts: { preconfirmations: promising !== undefined },
  })
  const bundler = createRpcClient(service.url, 2_000)
  const entryPoint = createEntryPoint(VERSION, address)
  const inclusions = await watchInclusions(node, address)
  const place = { bundler, entryPoint, service, inclusions, chainId }
  let blocks: NodeJS.Timeout | undefined
  try {
    const fleet = await createFleet({
      node,
      bundler,
      entryPoint,
      factory,
      chainId,
      accounts,
      payer: 'tank',
      seed: `latency ${kind}`,
      concurrency: 8,
    })
    const creations = await fleet.creations()
    for (const op of creations) await send(place, op)
    await endsOf(
      place,
      creations.map(({ hash }) => hash),
    )
    fleet.sponsorTimes()
    // What was promised until now becomes blocks, and what comes is promised again.
    blocks = promising && setInterval(() => void promising.hold(), BLOCK)
    const figures: Figures[] = []
    for (const way of ways) {
      const prepared = await fleet.operations(operations)
      const sponsor = latencyOf(fleet.sponsorTimes())
      const measured = await measure(place, way, prepared)
      figures.push({ chain: chains[kind], way, stages: { sponsor, ...measured } })
    }
    const heldByWaits = kind === 'slow' && waits > 0 ? await measureWaits(service, waits) : 0
    return { figures, heldByWaits }
  } finally {
    await inclusions.stop()
    await bundler.close()
    await node.close()
    await service.close()
    clearInterval(blocks)
    await promising?.stop()
    await chain.stop()
  }
}

const slow = await measureChain('slow')
const promised = await measureChain('promised')
const figures = [...slow.figures, ...promised.figures]
console.log(
  `\n${operations} operations at ${rate}/s, paid by a tank, EntryPoint v${VERSION}, in ms`,
)
for (const { chain, way, stages: of } of figures) {
  console.log(`\n${chain}, ${way === 'poll' ? `a receipt asked for every ${POLL} ms` : 'sync'}`)
  for (const stage of stages) {
    const { p50, p99 } = of[stage]
    console.log(
      `  ${stage.padEnd(10)} p50 ${p50.toFixed(0).padStart(6)}  p99 ${p99.toFixed(0).padStart(6)}`,
    )
  }
}
const { total } = promised.figures[1]?.stages ?? {}
const isReached = total !== undefined && total.p50 <= GOAL.p50 && total.p99 <= GOAL.p99
console.log(
  `\nsync on pending blocks: goal p50 ${GOAL.p50}, p99 ${GOAL.p99} ms: ${isReached ? 'reached' : 'not reached'}`,
)
if (waits > 0) console.log(`${waits} open waits: ${(slow.heldByWaits / 1e6).toFixed(0)} MB`)
if (values.json) {
  const heldByWaits = waits > 0 ? { waits, bytes: slow.heldByWaits } : undefined
  writeFileSync(
    values.json,
    `${JSON.stringify({ operations, rate, figures, heldByWaits }, null, 2)}\n`,
  )
}
