/**
 * Does a request cost the same when the pool is large, or when many apps share the service? One
 * client asks a service of its own while 100, 10,000 and 100,000 operations wait, and with 1, 10 and
 * 100 apps. With `--processes 1,2,4`: what an operation costs a service of so many processes, under the load of `bench:load`
 * (`--operations`). Prints a table, and with `--json FILE` writes the same.
 * The limit of the pool is raised, else each operation sent to the largest would displace one. See docs/understand/performance.md.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createEntryPoint } from '../src/erc4337/createEntryPoint.js'
import { createFleet, mapConcurrent } from './load/fleet.js'
import { openLoadChain } from './load/loadChain.js'
import { count } from './load/loadOptions.js'
import { type LoadFigures, send } from './load/measureLoad.js'
import { startOwnService } from './load/ownService.js'
import { createRpcClient } from './load/rpcClient.js'
import { watchInclusions } from './load/watchInclusions.js'
import { addApps } from './scale/addApps.js'
import { fillPool } from './scale/fillPool.js'
import { measureProcesses } from './scale/measureProcesses.js'
import { measureRequests, type RequestFigures } from './scale/measureRequests.js'

const VERSION = '0.7'
const POOLED = [100, 10_000, 100_000]
const APPS = [1, 10, 100]
const ACCOUNTS = 20
/** Requests of a kind per row; and before the first row, to warm the service up. */
const SAMPLES = 100
const WARM_UP = 200

type Row = { readonly pooled: number; readonly apps: number; readonly figures: RequestFigures }

async function measure(): Promise<Row[]> {
  const chain = await openLoadChain(undefined, 'quick')
  try {
    const { chainId, rpcUrl } = chain
    const [address, factory] = [chain.entryPoints[VERSION], chain.factories[VERSION]]
    if (address === undefined || factory === undefined)
      throw new Error(`the chain has no EntryPoint ${VERSION}`)
    const entryPoint = createEntryPoint(VERSION, address)
    const service = await startOwnService({
      chainId,
      rpcUrl,
      version: VERSION,
      payer: 'self',
      executors: 4,
      maxOperations: 2 * Math.max(...POOLED),
      entryPoints: [{ version: VERSION, address }],
    })
    const node = createRpcClient(rpcUrl, 4)
    const inclusions = await watchInclusions(node, address)
    let clients = [createRpcClient(service.url, 16)]
    try {
      const [bundler] = clients as [(typeof clients)[number]]
      const fleet = await createFleet({
        node,
        bundler,
        entryPoint,
        factory,
        chainId,
        concurrency: 16,
        accounts: ACCOUNTS,
        payer: 'self',
        seed: 'scale',
      })
      const creations = await fleet.creations()
      await mapConcurrent(creations, 16, (each) => send({ bundler, entryPoint }, each))
      await inclusions.all(creations.map(({ hash }) => hash))
      const context = { entryPoint, fleet, inclusions }
      const figuresOf = (samples: number) =>
        measureRequests({ ...context, clients, pids: service.pids }, samples)
      await figuresOf(WARM_UP)

      const rows: Row[] = []
      const { database } = service
      let pooled = 0
      for (const count of POOLED) {
        await fillPool(database, chainId, { from: pooled, to: count })
        pooled = count
        rows.push({ pooled, apps: 1, figures: await figuresOf(SAMPLES) })
      }
      for (const count of APPS.slice(1)) {
        const urls = await addApps(database, service.url, count - clients.length)
        clients = [...clients, ...urls.map((url) => createRpcClient(url, 1))]
        rows.push({ pooled, apps: count, figures: await figuresOf(SAMPLES) })
      }
      return rows
    } finally {
      await inclusions.stop()
      for (const client of [node, ...clients]) await client.close()
      await service.close()
    }
  } finally {
    await chain.stop()
  }
}

function printRequests(rows: readonly Row[]): void {
  const [first] = rows
  console.log(
    `EntryPoint v${VERSION}, one client; milliseconds p50 / p95, CPU per request of service + database`,
  )
  for (const { pooled, apps, figures } of rows) {
    console.log(`\n${pooled} operations pooled, ${apps} apps`)
    for (const [name, figure] of Object.entries(figures)) {
      const { latency, serviceCpu, databaseCpu } = figure
      const base = first?.figures[name]?.latency.p50 ?? Number.NaN
      const cells = [
        `${latency.p50.toFixed(2)} / ${latency.p95.toFixed(2)}`.padEnd(18),
        `${serviceCpu.toFixed(2)} + ${databaseCpu.toFixed(2)}`.padEnd(16),
        `${(latency.p50 / base).toFixed(2)} × the first row`,
      ]
      console.log(`  ${name.padEnd(10)}${cells.join('')}`)
    }
  }
}

type ProcessRow = { readonly processes: number; readonly figures: LoadFigures }

function printProcesses(rows: readonly ProcessRow[]): void {
  const cpuOf = ({ figures }: ProcessRow) => figures.cpuPerOperation.service ?? Number.NaN
  console.log(
    'processes: accepted, included a second; CPU per operation of service + database; memory of the service',
  )
  for (const row of rows) {
    const { acceptedPerSecond, includedPerSecond, cpuPerOperation, residentBytes } = row.figures
    const factor = cpuOf(row) / cpuOf(rows[0] ?? row)
    console.log(
      `  ${row.processes}: ${acceptedPerSecond.toFixed(0)}, ${includedPerSecond.toFixed(0)}; ` +
        `${cpuOf(row).toFixed(2)} (× ${factor.toFixed(2)}) + ${cpuPerOperation.database?.toFixed(2)} ms; ` +
        `${((residentBytes.service ?? 0) / 1e6).toFixed(0)} MB`,
    )
  }
}

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    processes: { type: 'string' },
    operations: { type: 'string', default: '6000' },
  },
})

async function requestRows(): Promise<readonly Row[]> {
  const rows = await measure()
  printRequests(rows)
  return rows
}

async function processRows(list: string): Promise<readonly ProcessRow[]> {
  const operations = count('operations', values.operations)
  const rows: ProcessRow[] = []
  for (const each of list.split(',')) {
    const processes = count('processes', each)
    rows.push({ processes, figures: await measureProcesses(processes, operations) })
  }
  printProcesses(rows)
  return rows
}

const rows = await (values.processes === undefined ? requestRows() : processRows(values.processes))
if (values.json) writeFileSync(values.json, JSON.stringify(rows, null, 2))
