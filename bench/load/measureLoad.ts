import type { Hex } from 'viem'
import type { EntryPoint } from '../../src/erc4337/entryPoint.js'
import type { DatabaseWork } from '../../test/support/database/databaseWork.js'
import { type Fleet, mapConcurrent, type Prepared } from './fleet.js'
import type { LoadOptions } from './loadOptions.js'
import { cpuBetween, type Usage, usageOf } from './processUsage.js'
import type { RpcClient } from './rpcClient.js'
import { type Latency, latencyOf, median } from './statistics.js'
import { watchInclusions } from './watchInclusions.js'

/** Groups of processes whose use is accounted; a function where sessions come and go. */
export type Watched = Readonly<Record<string, () => readonly number[]>>

export type LoadFigures = {
  readonly operations: number
  readonly acceptedPerSecond: number
  readonly includedPerSecond: number
  /** Milliseconds. */
  readonly send: Latency
  readonly inclusion: Latency
  readonly estimate: Latency
  readonly receipt: Latency
  /** Absent where nobody sponsors. */
  readonly sponsor: Latency | undefined
  /** One client, one request at a time. */
  readonly sendAlone: Latency
  readonly operationsPerBundle: number
  /** CPU milliseconds per included operation, by group of processes. */
  readonly cpuPerOperation: Readonly<Record<string, number>>
  /** Bytes after the run, by group of processes. */
  readonly residentBytes: Readonly<Record<string, number>>
  /** Work of the database per operation, which does not depend on how busy the machine is. */
  readonly work: DatabaseWork | undefined
}

type Context = {
  readonly node: RpcClient
  readonly bundler: RpcClient
  readonly entryPoint: EntryPoint
  readonly fleet: Fleet
  readonly watched: Watched
  readonly countWork: (() => Promise<() => Promise<DatabaseWork | undefined>>) | undefined
}

/** How many requests the latencies of one client are taken from. */
const SAMPLES = 100

/**
 * One run: operations made before the clock starts are sent with `concurrency` requests under way, and
 * followed on the chain until the last is included. Then the latencies of one client alone.
 */
export async function measureLoad(
  context: Context,
  { operations, concurrency }: Pick<LoadOptions, 'operations' | 'concurrency'>,
): Promise<LoadFigures> {
  const { node, bundler, entryPoint, fleet } = context
  const prepared = await fleet.operations(operations)
  const alone = await fleet.operations(SAMPLES)
  const sponsorTimes = fleet.sponsorTimes()
  const inclusions = await watchInclusions(node, entryPoint.address)
  try {
    const count = await context.countWork?.()
    const before = read(context.watched)
    const start = performance.now()
    const sentAt = new Map<Hex, number>()
    const sendTimes = await mapConcurrent(prepared, concurrency, async ({ hash, wire }) => {
      sentAt.set(hash, performance.now())
      return send(context, { hash, wire })
    })
    const accepted = performance.now()
    await inclusions.all(prepared.map(({ hash }) => hash))
    const after = read(context.watched)
    const work = await count?.()
    const hashes = prepared.map(({ hash }) => hash)
    const included = Math.max(...hashes.map((hash) => inclusions.seen.get(hash) ?? 0))
    const bundles = inclusions.bundles.size

    const aloneTimes: number[] = []
    for (const operation of alone) aloneTimes.push(await send(context, operation))
    await inclusions.all(alone.map(({ hash }) => hash))
    const params = [fleet.unsigned(), entryPoint.address]
    const estimates = await repeated(() => bundler.call('eth_estimateUserOperationGas', params))
    const receipts = await repeated((i) =>
      bundler.call('eth_getUserOperationReceipt', [hashes[i % hashes.length]]),
    )
    return {
      operations,
      acceptedPerSecond: perSecond(operations, accepted - start),
      includedPerSecond: perSecond(operations, included - start),
      send: latencyOf(sendTimes),
      inclusion: latencyOf(
        hashes.map((hash) => (inclusions.seen.get(hash) ?? 0) - (sentAt.get(hash) ?? 0)),
      ),
      estimate: latencyOf(estimates),
      receipt: latencyOf(receipts),
      sponsor: sponsorTimes.length > 0 ? latencyOf(sponsorTimes) : undefined,
      sendAlone: latencyOf(aloneTimes),
      operationsPerBundle: operations / bundles,
      cpuPerOperation: mapValues(after, (usage, name) => {
        const used = cpuBetween(before[name] ?? usageOf([]), usage)
        return (used * 1_000) / operations
      }),
      residentBytes: mapValues(after, ({ residentBytes }) => residentBytes),
      work: work && perOperation(work, operations),
    }
  } finally {
    await inclusions.stop()
  }
}

/** @throws Error when the bundler answers another hash than the contract's */
export async function send(
  { bundler, entryPoint }: Pick<Context, 'bundler' | 'entryPoint'>,
  { hash, wire }: Prepared,
): Promise<number> {
  const params = [wire, entryPoint.address]
  const { result, ms } = await bundler.call<Hex>('eth_sendUserOperation', params)
  if (result !== hash) throw new Error(`hash ${result} instead of ${hash}`)
  return ms
}

/** The figure of each run that stands in the middle. */
export function medianOf(runs: readonly LoadFigures[]): LoadFigures {
  return merge(runs) as LoadFigures
}

function merge(values: readonly unknown[]): unknown {
  const [first] = values
  if (typeof first === 'number') return median(values as number[])
  if (typeof first !== 'object' || first === null) return first
  return Object.fromEntries(
    Object.keys(first).map((key) => [
      key,
      merge(values.map((value) => (value as Record<string, unknown>)[key])),
    ]),
  )
}

function perOperation(work: DatabaseWork, operations: number): DatabaseWork {
  const { statements, planned, commits, wal, indexEntries } = work
  const per = (count: number) => count / operations
  return {
    statements: per(statements),
    planned: per(planned),
    commits: per(commits),
    wal: per(wal),
    indexEntries: per(indexEntries),
  }
}

function read(watched: Watched): Readonly<Record<string, Usage>> {
  return mapValues(watched, (pids) => usageOf(pids()))
}

function mapValues<T, R>(
  object: Readonly<Record<string, T>>,
  map: (value: T, name: string) => R,
): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]))
}

async function repeated(
  ask: (round: number) => Promise<{ readonly ms: number }>,
): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < SAMPLES; round++) times.push((await ask(round)).ms)
  return times
}

function perSecond(count: number, ms: number): number {
  return (count * 1_000) / ms
}
