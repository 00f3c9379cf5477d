/**
 * A lone operation: sent when nothing else is under way, and followed until it is included. What the database did for
 * each does not depend on how busy the machine is; the times do.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { createEntryPoint } from '../src/erc4337/createEntryPoint.js'
import { startCountingProxy } from './load/countingProxy.js'
import { createFleet } from './load/fleet.js'
import { openLoadChain } from './load/loadChain.js'
import { send } from './load/measureLoad.js'
import { startOwnService } from './load/ownService.js'
import { createRpcClient } from './load/rpcClient.js'
import { latencyOf } from './load/statistics.js'
import { watchInclusions } from './load/watchInclusions.js'

const VERSION = '0.7'
const WARM_UP = 10

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '30' },
    /** Milliseconds by which each answer of the node comes later. */
    latency: { type: 'string', default: '0' },
    json: { type: 'string' },
  },
})
const operations = Number(values.operations)
const chain = await openLoadChain(undefined, 'quick')
try {
  const { chainId, rpcUrl, entryPoints, factories } = chain
  const [address, factory] = [entryPoints[VERSION], factories[VERSION]]
  if (address === undefined || factory === undefined) throw new Error('the chain has no EntryPoint')
  const proxy = await startCountingProxy(rpcUrl, Number(values.latency))
  const service = await startOwnService({
    chainId,
    rpcUrl: proxy.url,
    entryPoints: [{ version: VERSION, address }],
    version: VERSION,
    payer: 'self',
    executors: 1,
  })
  const node = createRpcClient(rpcUrl, 1)
  const bundler = createRpcClient(service.url, 1)
  const entryPoint = createEntryPoint(VERSION, address)
  const fleet = await createFleet({
    node,
    bundler,
    entryPoint,
    factory,
    chainId,
    accounts: WARM_UP + operations,
    payer: 'self',
    seed: 'lone',
    concurrency: 8,
  })
  const inclusions = await watchInclusions(node, address)
  try {
    // Each is the first operation of its account.
    const prepared = await fleet.creations()
    const times: { readonly sent: number; readonly included: number }[] = []
    const sendAlone = async (each: (typeof prepared)[number]): Promise<void> => {
      const begin = performance.now()
      const sent = await send({ bundler, entryPoint }, each)
      await inclusions.all([each.hash])
      times.push({ sent, included: performance.now() - begin })
    }
    for (const each of prepared.slice(0, WARM_UP)) await sendAlone(each)
    times.length = 0
    const count = await service.countWork()
    proxy.counts()
    for (const each of prepared.slice(WARM_UP)) await sendAlone(each)
    const nodeRequests = proxy.counts().requests
    const work = await count()
    const { rows } = await sql<{ milliseconds: number }>`
      select sum(total_exec_time + total_plan_time) as milliseconds from pg_stat_statements
      where query !~ 'pg_stat|pg_current_wal|pg_sleep|pg_get_wal'`.execute(service.database)
    const perOperation = Object.fromEntries(
      Object.entries({
        ...work,
        nodeRequests,
        postgresMilliseconds: rows[0]?.milliseconds ?? 0,
      }).map(([name, total]) => [name, total / operations]),
    )
    const figures = {
      operations,
      perOperation,
      send: latencyOf(times.map(({ sent }) => sent)),
      inclusion: latencyOf(times.map(({ included }) => included)),
    }
    console.log(`\n${operations} lone operations of new accounts, EntryPoint v${VERSION}`)
    for (const [name, each] of Object.entries(perOperation))
      console.log(`  per operation: ${name.padEnd(22)} ${each.toFixed(2)}`)
    for (const name of ['send', 'inclusion'] as const)
      console.log(`  ${name.padEnd(37)} p50 ${figures[name].p50.toFixed(1)} ms`)
    if (values.json) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`)
  } finally {
    await inclusions.stop()
    await bundler.close()
    await node.close()
    await service.close()
    await proxy.close()
  }
} finally {
  await chain.stop()
}
