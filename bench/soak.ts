/**
 * Steady load for hours: do the latencies of requests and of each statement, memory and tables stay as they are? Sends
 * `--rate` operations a second for `--minutes`, prints a line for each minute, then the first third against the last.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Hex } from 'viem'
import { createEntryPoint } from '../src/erc4337/createEntryPoint.js'
import { createFleet, mapConcurrent, type Prepared, type Slot } from './load/fleet.js'
import { openLoadChain } from './load/loadChain.js'
import { count, oneOf, PAYERS } from './load/loadOptions.js'
import { send } from './load/measureLoad.js'
import { startOwnService } from './load/ownService.js'
import { cpuBetween, usageOf } from './load/processUsage.js'
import { createRpcClient } from './load/rpcClient.js'
import { type Latency, latencyOf, median } from './load/statistics.js'
import { watchInclusions } from './load/watchInclusions.js'
import { followStatements, type StatementTimes } from './soak/statementTimes.js'
import { type TableSizes, tableSizes } from './soak/tableSizes.js'

const VERSION = '0.7'
const CONNECTIONS = 128
const ACCOUNTS = 1_000
/** Nonce keys of each account: the chain's state does not grow, and no account has more operations in the pool. */
const KEYS = 4
const MINUTE = 60_000
/** Statements that are called less often in a minute have no p99 worth the name. */
const FEWEST_CALLS = 50
/** Minutes in which code is compiled and memory is filled. */
const WARM_UP = 3

type Minute = {
  readonly sent: number
  readonly included: number
  /** Accepted, and not seen on the chain at the end of the minute. */
  readonly open: number
  readonly send: Latency
  readonly inclusion: Latency
  /** CPU milliseconds per included operation, and bytes in memory. */
  readonly cpu: Readonly<Record<string, number>>
  readonly memory: Readonly<Record<string, number>>
  readonly statements: StatementTimes
  readonly tables: TableSizes
}

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '300' },
    minutes: { type: 'string', default: '120' },
    payer: { type: 'string', default: 'self' },
    json: { type: 'string' },
  },
})
const [rate, minutes] = [count('rate', values.rate), count('minutes', values.minutes)]
const payer = oneOf('payer', PAYERS, values.payer)

const chain = await openLoadChain(undefined, 'slow')
const { chainId, rpcUrl, entryPoints, factories } = chain
const [address, factory] = [entryPoints[VERSION] as Hex, factories[VERSION] as Hex]
const entryPoint = createEntryPoint(VERSION, address)
const service = await startOwnService({
  chainId,
  rpcUrl,
  entryPoints: [{ version: VERSION, address }],
  version: VERSION,
  payer,
  executors: 4,
})
const { database, pids } = service
const node = createRpcClient(rpcUrl, 4)
const bundler = createRpcClient(service.url, CONNECTIONS)
const inclusions = await watchInclusions(node, address)

/** Accepted operations that are not on the chain yet, by hash. */
const open = new Map<Hex, { readonly sentAt: number; readonly slot: Slot }>()
/** Next nonces whose operations may be sent: the one before is on the chain. */
let free: Slot[] = []
const refusals = new Map<string, number>()
let sendTimes: number[] = []
let inclusionTimes: number[] = []
const underWay = new Set<Promise<void>>()

async function sendOne(op: Prepared, slot: Slot): Promise<void> {
  const sentAt = performance.now()
  try {
    sendTimes.push(await send({ bundler, entryPoint }, op))
    open.set(op.hash, { sentAt, slot })
  } catch (error) {
    const { message } = error as Error
    refusals.set(message, (refusals.get(message) ?? 0) + 1)
    free.push(slot)
  }
}

/** Takes note of what is on the chain now. */
function noteIncluded(): void {
  for (const [hash, { sentAt, slot }] of open) {
    const seenAt = inclusions.seen.get(hash)
    if (seenAt === undefined) continue
    inclusionTimes.push(seenAt - sentAt)
    open.delete(hash)
    inclusions.seen.delete(hash)
    free.push({ ...slot, nonce: slot.nonce + 1n })
  }
}

/** Free slots, those first whose nonce key is new. */
function takeSlots(count: number): Slot[] {
  const sequence = ({ nonce }: Slot) => Number(nonce % 2n ** 64n)
  const taken = free.slice(0, count)
  free = free.slice(count)
  return taken.sort((a, b) => sequence(a) - sequence(b))
}

const usages = () => ({
  service: usageOf(pids.service),
  database: usageOf(pids.database),
  chain: usageOf(chain.pid === undefined ? [] : [chain.pid]),
  load: usageOf([process.pid]),
})

async function run(): Promise<Minute[]> {
  const fleet = await createFleet({
    ...{ node, bundler, entryPoint, factory, chainId, payer },
    accounts: ACCOUNTS,
    seed: 'soak',
    concurrency: 32,
  })
  const creations = await fleet.creations()
  await mapConcurrent(creations, 32, (each) => send({ bundler, entryPoint }, each))
  await inclusions.all(creations.map(({ hash }) => hash))
  free = Array.from({ length: ACCOUNTS * KEYS }, (_, at) => ({
    account: at % ACCOUNTS,
    nonce: (1n + BigInt(Math.floor(at / ACCOUNTS))) << 64n,
  }))
  const takeStatements = await followStatements(database, service.databaseLog)

  const samples: Minute[] = []
  let before = usages()
  const sample = async () => {
    const [times, inclusion] = [sendTimes, inclusionTimes]
    sendTimes = []
    inclusionTimes = []
    const after = usages()
    const names = Object.keys(after) as (keyof typeof after)[]
    const cpu = names.map((name) => [
      name,
      (1_000 * cpuBetween(before[name], after[name])) / inclusion.length,
    ])
    const memory = names.map((name) => [name, after[name].residentBytes])
    before = after
    const minute: Minute = {
      sent: times.length,
      included: inclusion.length,
      open: open.size,
      send: latencyOf(times),
      inclusion: latencyOf(inclusion),
      cpu: Object.fromEntries(cpu),
      memory: Object.fromEntries(memory),
      statements: await takeStatements(),
      tables: await tableSizes(database),
    }
    samples.push(minute)
    print(samples.length, minute)
  }

  const prepare = async () => {
    const slots = takeSlots(rate)
    const operations = await fleet.operationsFor(slots)
    fleet.sponsorTimes()
    return operations.map((op, at) => [op, slots[at] as Slot] as const)
  }
  let ready = await prepare()
  const start = performance.now()
  let nextSample = start + MINUTE
  for (let second = 0; second < minutes * 60; second++) {
    const due = start + second * 1_000
    for (const [at, [op, slot]] of ready.entries()) {
      const sending = delay(Math.max(0, due + (at * 1_000) / rate - performance.now())).then(() =>
        sendOne(op, slot),
      )
      underWay.add(sending)
      void sending.then(() => underWay.delete(sending))
    }
    noteIncluded()
    ready = await prepare()
    await delay(Math.max(0, due + 1_000 - performance.now()))
    if (performance.now() < nextSample) continue
    nextSample += MINUTE
    await sample()
  }
  await Promise.all(underWay)
  await inclusions.all([...open.keys()])
  noteIncluded()
  if (open.size > 0) throw new Error(`${open.size} operations were lost`)
  return samples
}

function print(minute: number, { sent, included, send: sends, inclusion, ...rest }: Minute): void {
  const cpu = Object.values(rest.cpu).map((ms) => ms.toFixed(2))
  const memory = Object.values(rest.memory).map((bytes) => (bytes / 1e6).toFixed(0))
  console.log(
    `${minute}: ${sent} sent, ${included} included, ${rest.open} open; send ${sends.p50.toFixed(1)} / ${sends.p99.toFixed(0)}, ` +
      `inclusion ${inclusion.p50.toFixed(0)} / ${inclusion.p99.toFixed(0)} ms; CPU ${cpu.join(' + ')} ms; ` +
      `memory ${memory.join(' + ')} MB`,
  )
}

type Row = { readonly name: string; readonly first: number; readonly last: number }

/** Medians of the first third after the warm-up, and of the last third. */
function compare(samples: readonly Minute[]): Row[] {
  const steady = samples.slice(WARM_UP)
  const third = Math.ceil(steady.length / 3)
  const row = (name: string, of: (minute: Minute) => number | undefined): Row => {
    const side = (part: readonly Minute[]) => median(part.flatMap((each) => of(each) ?? []))
    return { name, first: side(steady.slice(0, third)), last: side(steady.slice(-third)) }
  }
  const groups = Object.keys(steady[0]?.cpu ?? {})
  const often = (minute: Minute, label: string) => {
    const times = minute.statements[label]
    return times && times.calls >= FEWEST_CALLS ? times.p99 : undefined
  }
  const labels = [...new Set(steady.flatMap(({ statements }) => Object.keys(statements)))]
  const tables = Object.keys(samples.at(-1)?.tables ?? {})
  /** Bytes that a table grows by for each included operation. */
  const growth = (name: string): Row => {
    const side = (part: readonly Minute[]) => {
      const [from, to] = [part[0]?.tables[name]?.bytes ?? 0, part.at(-1)?.tables[name]?.bytes ?? 0]
      return (to - from) / part.slice(1).reduce((sum, { included }) => sum + included, 0)
    }
    const [first, last] = [steady.slice(0, third), steady.slice(-third)]
    return { name: `growth of ${name}, bytes an operation`, first: side(first), last: side(last) }
  }
  return [
    row('included a minute', ({ included }) => included),
    row('open', (minute) => minute.open),
    row('send p50, ms', (minute) => minute.send.p50),
    row('send p99, ms', (minute) => minute.send.p99),
    row('inclusion p50, ms', ({ inclusion }) => inclusion.p50),
    row('inclusion p99, ms', ({ inclusion }) => inclusion.p99),
    ...groups.map((name) => row(`CPU of ${name}, ms an operation`, ({ cpu }) => cpu[name])),
    ...groups.map((name) => row(`memory of ${name}, bytes`, ({ memory }) => memory[name])),
    ...labels
      .map((label) => row(`p99, ms: ${label}`, (minute) => often(minute, label)))
      .filter(({ first, last }) => !Number.isNaN(first + last)),
    ...tables.map(growth).filter(({ first, last }) => first !== 0 || last !== 0),
    ...tables.map((name) => row(`dead rows of ${name}`, (minute) => minute.tables[name]?.dead)),
  ].filter(({ first, last }) => first !== 0 || last !== 0)
}

try {
  const samples = await run()
  const rows = compare(samples)
  const sent = samples.reduce((sum, minute) => sum + minute.sent, 0)
  console.log(`\n${sent} operations at ${rate} a second, paid by ${payer}; none was lost`)
  for (const { name, first, last } of rows) {
    const [one, other] = [first, last].map((value) => value.toPrecision(4))
    console.log(
      `  ${name.padEnd(90)} ${one?.padStart(10)} ${other?.padStart(10)}  × ${(last / first).toFixed(2)}`,
    )
  }
  for (const [message, times] of refusals) console.log(`  refused ${times} times: ${message}`)
  if (values.json)
    writeFileSync(
      values.json,
      `${JSON.stringify({ rate, payer, sent, rows, refusals: [...refusals] }, null, 2)}\n`,
    )
} finally {
  await inclusions.stop()
  await bundler.close()
  await node.close()
  await service.close()
  await chain.stop()
}
