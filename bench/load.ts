/**
 * Load on a bundler: chain and service are processes of their own on this machine, and so is this
 * one. `--target URL --rpc URL` runs the same load against any other ERC-4337 bundler; its chain
 * must be an anvil. See docs/understand/performance.md.
 */
import { writeFileSync } from 'node:fs'
import { startCountingProxy } from './load/countingProxy.js'
import { type LoadChain, openLoadChain } from './load/loadChain.js'
import { type LoadOptions, parseLoadOptions } from './load/loadOptions.js'
import type { LoadFigures } from './load/measureLoad.js'
import { openSubscribers } from './load/openSubscribers.js'
import { serviceOn } from './load/ownService.js'
import { printReport } from './load/printReport.js'
import { runLoad } from './load/runLoad.js'

type NodeTraffic = {
  readonly requestsPerOperation: number
  readonly callsPerOperation: Readonly<Record<string, number>>
}

function ownPids() {
  return [process.pid]
}

async function measureOwn(chain: LoadChain, options: LoadOptions): Promise<LoadFigures> {
  const service = await serviceOn(chain, options)
  const { url, authToken } = service.stream
  const subscribers = await openSubscribers(url, authToken, options.subscribers)
  try {
    const watched = {
      service: () => service.pids.service,
      database: () => service.pids.database,
      chain: () => (chain.pid === undefined ? [] : [chain.pid]),
      load: ownPids,
    }
    return await runLoad(
      chain,
      { url: service.url, watched, countWork: service.countWork },
      options,
    )
  } finally {
    if (options.subscribers > 0)
      console.log(`${options.subscribers} subscribers received ${subscribers.received()} changes`)
    subscribers.close()
    await service.close()
  }
}

/** A run of its own: a proxy in between costs time that must not be in the other figures. */
async function countTraffic(chain: LoadChain, options: LoadOptions): Promise<NodeTraffic> {
  const proxy = await startCountingProxy(chain.rpcUrl)
  try {
    const service = await serviceOn({ ...chain, rpcUrl: proxy.url }, options)
    try {
      let counted: ReturnType<typeof proxy.counts> | undefined
      // The accounts of the runs before exist already: other ones here.
      const seed = `${options.seed} counted`
      const countWork = async () => {
        proxy.counts()
        return async () => {
          counted = proxy.counts()
          return undefined
        }
      }
      await runLoad(
        chain,
        { url: service.url, watched: {}, countWork },
        { ...options, seed, runs: 1 },
      )
      if (counted === undefined) throw new Error('nothing was counted')
      const per = (count: number) => count / options.operations
      return {
        requestsPerOperation: per(counted.requests),
        callsPerOperation: Object.fromEntries(
          Object.entries(counted.methods)
            .sort(([, a], [, b]) => b - a)
            .map(([method, count]) => [method, per(count)]),
        ),
      }
    } finally {
      await service.close()
    }
  } finally {
    await proxy.close()
  }
}

const options = parseLoadOptions(process.argv.slice(2))
const {
  version,
  payer,
  chain: kind,
  accounts,
  operations,
  concurrency,
  runs,
  seed,
  processes,
} = options
const title =
  `EntryPoint v${version}, ${kind} chain, paid by ${payer}: ${operations} operations of ${accounts} accounts, ` +
  `${concurrency} at once, processes of the service: ${processes}, median of ${runs} runs, seed ${seed}`
const chain = await openLoadChain(options.rpc, options.chain)
try {
  const figures =
    options.target === undefined
      ? await measureOwn(chain, options)
      : await runLoad(chain, { url: options.target, watched: { load: ownPids } }, options)
  printReport(title, figures)
  const traffic = options.target === undefined ? await countTraffic(chain, options) : undefined
  if (traffic) {
    console.log(`  node requests per operation        ${traffic.requestsPerOperation.toFixed(3)}`)
    for (const [method, count] of Object.entries(traffic.callsPerOperation))
      console.log(`    ${method.padEnd(32)} ${count.toFixed(3)}`)
  }
  if (options.json)
    writeFileSync(options.json, JSON.stringify({ title, figures, traffic }, null, 2))
} finally {
  await chain.stop()
}
