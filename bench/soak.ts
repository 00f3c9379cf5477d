/**
 * Steady load for hours: do the latencies of requests and of each statement, memory and tables stay as they are? Sends
 * `--rate` operations a second for `--minutes`, prints a line for each minute, then the first third against the last.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Hex } from 'viem'
import { createEntryPoint } from '../src/erc4337/createEntryPoint.js'
import { createFleet, type Fleet, mapConcurrent, type Prepared, type Slot } from './load/fleet.js'
import { type LoadChain, openLoadChain } from './load/loadChain.js'
import { count, oneOf, PAYERS, parseLoadOptions } from './load/loadOptions.js'
import { send } from './load/measureLoad.js'
import { type OwnService, serviceOn } from './load/ownService.js'
import { cpuBetween, usageOf } from './load/processUsage.js'
import { createRpcClient } from './load/rpcClient.js'
import { latencyOf } from './load/statistics.js'
import { type Inclusions, watchInclusions } from './load/watchInclusions.js'
import { compareThirds, type Minute, printMinute } from './soak/minutes.js'
import { followStatements } from './soak/statementTimes.js'
import { tableSizes } from './soak/tableSizes.js'
import { followWal } from './soak/walWritten.js'

const VERSION = '0.7'
const CONNECTIONS = 128
const ACCOUNTS = 1_000
/** Nonce keys of each account: the chain's state does not grow, and no account has more operations in the pool. */
const KEYS = 4

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

type Place = {
  readonly chain: LoadChain
  readonly service: OwnService
  readonly inclusions: Inclusions
  readonly fleet: Fleet
  readonly target: Parameters<typeof send>[0]
}

/** Sends at the rate, and measures each minute. */
async function soak({ chain, service, inclusions, fleet, target }: Place): Promise<Minute[]> {
  /** Accepted operations that are not on the chain yet, by hash. */
  const open = new Map<Hex, { readonly sentAt: number; readonly slot: Slot }>()
  /** Next nonces whose operations may be sent: the one before is on the chain. */
  let free: Slot[] = Array.from({ length: ACCOUNTS * KEYS }, (_, at) => ({
    account: at % ACCOUNTS,
    nonce: (1n + BigInt(Math.floor(at / ACCOUNTS))) << 64n,
  }))
  let sendTimes: number[] = []
  let inclusionTimes: number[] = []
  const underWay = new Set<Promise<void>>()
  let failure: unknown

  async function sendOne(op: Prepared, slot: Slot): Promise<void> {
    const sentAt = performance.now()
    try {
      sendTimes.push(await send(target, op))
      open.set(op.hash, { sentAt, slot })
    } catch (error) {
      failure ??= error
    }
  }

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

  /** Operations for free slots, those first whose nonce key is new. */
  async function prepare() {
    const sequence = ({ nonce }: Slot) => Number(nonce % 2n ** 64n)
    const slots = free.slice(0, rate).sort((a, b) => sequence(a) - sequence(b))
    free = free.slice(rate)
    const operations = await fleet.operationsFor(slots)
    fleet.sponsorTimes()
    return operations.map((op, at) => [op, slots[at] as Slot] as const)
  }

  const usages = () => ({
    service: usageOf(service.pids.service),
    database: usageOf(service.pids.database),
    chain: usageOf(chain.pid === undefined ? [] : [chain.pid]),
    load: usageOf([process.pid]),
  })
  const takeStatements = await followStatements(service.database, service.databaseLog)
  const takeWal = await followWal(service.database)
  let before = usages()

  async function sample(): Promise<Minute> {
    const [times, inclusion] = [sendTimes, inclusionTimes]
    sendTimes = []
    inclusionTimes = []
    const after = usages()
    const groups = Object.keys(after) as (keyof typeof after)[]
    const cpu = (group: keyof typeof after) =>
      (1_000 * cpuBetween(before[group], after[group])) / inclusion.length
    const minute = {
      sent: times.length,
      included: inclusion.length,
      open: open.size,
      send: latencyOf(times),
      inclusion: latencyOf(inclusion),
      cpu: Object.fromEntries(groups.map((group) => [group, cpu(group)])),
      memory: Object.fromEntries(groups.map((group) => [group, after[group].residentBytes])),
      wal: await takeWal(),
      statements: await takeStatements(),
      tables: await tableSizes(service.database),
    }
    before = after
    return minute
  }

  const samples: Minute[] = []
  let ready = await prepare()
  const start = performance.now()
  for (let second = 0; second < minutes * 60; second++) {
    const due = start + second * 1_000
    for (const [at, [op, slot]] of ready.entries()) {
      const wait = due + (at * 1_000) / rate - performance.now()
      const sending = delay(Math.max(0, wait)).then(() => sendOne(op, slot))
      underWay.add(sending)
      void sending.then(() => underWay.delete(sending))
    }
    if (failure !== undefined) throw failure
    noteIncluded()
    ready = await prepare()
    await delay(Math.max(0, due + 1_000 - performance.now()))
    if ((second + 1) % 60 !== 0) continue
    const minute = await sample()
    samples.push(minute)
    printMinute(samples.length, minute)
  }
  await Promise.all(underWay)
  if (failure !== undefined) throw failure
  await inclusions.all([...open.keys()])
  return samples
}

/** Opens what the load needs, runs it, and closes all. */
async function run(chain: LoadChain): Promise<Minute[]> {
  const { chainId, rpcUrl, entryPoints, factories } = chain
  const [address, factory] = [entryPoints[VERSION] as Hex, factories[VERSION] as Hex]
  const entryPoint = createEntryPoint(VERSION, address)
  const options = parseLoadOptions(['--version', VERSION, '--payer', payer])
  const service = await serviceOn(chain, options)
  const node = createRpcClient(rpcUrl, 4)
  const bundler = createRpcClient(service.url, CONNECTIONS)
  const target = { bundler, entryPoint }
  const inclusions = await watchInclusions(node, address)
  try {
    const fleet = await createFleet({
      ...{ node, bundler, entryPoint, factory, chainId, payer },
      ...{ accounts: ACCOUNTS, seed: 'soak', concurrency: 32 },
    })
    const creations = await fleet.creations()
    await mapConcurrent(creations, 32, (each) => send(target, each))
    await inclusions.all(creations.map(({ hash }) => hash))
    return await soak({ chain, service, inclusions, fleet, target })
  } finally {
    await inclusions.stop()
    await bundler.close()
    await node.close()
    await service.close()
  }
}

const chain = await openLoadChain(undefined, 'slow')
try {
  const samples = await run(chain)
  const rows = compareThirds(samples)
  const sent = samples.reduce((sum, minute) => sum + minute.sent, 0)
  console.log(`\n${sent} operations at ${rate} a second, paid by ${payer}: all are on the chain`)
  for (const { name, first, last } of rows) {
    const cells = [first, last].map((value) => value.toPrecision(4).padStart(10))
    console.log(`  ${name.padEnd(90)} ${cells.join(' ')}  × ${(last / first).toFixed(2)}`)
  }
  if (values.json)
    writeFileSync(values.json, `${JSON.stringify({ rate, payer, sent, rows }, null, 2)}\n`)
} finally {
  await chain.stop()
}
