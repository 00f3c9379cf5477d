import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { isReachable } from '../../../src/db/isReachable.js'
import { startPublicChain } from '../chain/publicChain.js'
import { startTroubledNode, type TroubledNode } from '../chain/troubledNode.js'
import { tankDeposit, withBooks } from '../database/books.js'
import { silent } from '../logger.js'
import { commandsOn, labelled } from '../service/cliAnswers.js'
import { createTenant } from '../service/createTenant.js'
import { serveEnvironment } from '../service/serving.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../service/startPurser.js'
import { killDatabase } from '../service/survivors.js'
import { until } from '../until.js'
import { type Front, startFront } from './front.js'

/** One chain of the estate, as its clients and its operator see it. */
export type EstateChain = {
  readonly chainId: number
  readonly node: TroubledNode
  /** wei in the app's tank before any operation. */
  readonly deposit: bigint
  /** The chain and the tenant by the address of the front. */
  info(): DevInfo
}

/** All that an operator has: two chains, four replicas behind a proxy, a database on a disk of its own. */
export type Estate = {
  /** Holds the database's cluster, so that `withBooks` reaches it. */
  readonly folder: string
  readonly chains: readonly EstateChain[]
  readonly front: Front
  /** Whether the database's disk is a small one, which root alone can mount. */
  readonly hasOwnDisk: boolean
  urls(): readonly string[]
  /** Stops each replica after the one before is ready again, and starts it for these chains. */
  roll(chains: readonly EstateChain[]): Promise<void>
  /** Kills the database; resolves when it answers again. */
  restartDatabase(): Promise<void>
  /** Resolves to what frees the space again. */
  fillDisk(): () => void
  /** Stops everything, copies the database away, deletes it, puts the copy back and starts everything. */
  restore(): Promise<void>
  /** A new key for the app, by command; the old one is good for a minute more. */
  rotateKey(): Promise<void>
  stop(): Promise<void>
}

const REPLICAS = 4
/** The disk of the database. */
const DISK = '400m'

/** @param now names what the operator does at the moment */
export async function openEstate(now: () => string): Promise<Estate> {
  const folder = makeDataFolder()
  const hasOwnDisk = process.getuid?.() === 0
  if (hasOwnDisk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=0711`, 'tmpfs', folder])
  const frontFolder = makeDataFolder()
  const publicChains = await Promise.all([2_001, 2_002].map((chainId) => startPublicChain(chainId)))
  const nodes = await Promise.all(publicChains.map(({ rpcUrl }) => startTroubledNode(rpcUrl)))
  let postgres = await startEmbeddedPostgres(folder, silent)
  const definitions = publicChains.map(({ chainId }, at) => ({
    chainId,
    rpcUrls: [nodes[at]!.url],
    facts: { pollInterval: 50, resubmitAfter: 2_000 },
    executorKeys: ['env:EXECUTOR_1', 'env:EXECUTOR_2'],
  }))
  const secrets = { EXECUTOR_1: devKey(1), EXECUTOR_2: devKey(2), OWNER_KEY: devKey(3) }
  const environmentOf = (chainIds: readonly number[]) => ({
    ...serveEnvironment(folder, {}, secrets),
    PURSER_CHAINS: JSON.stringify(definitions.filter((each) => chainIds.includes(each.chainId))),
  })
  const all = definitions.map(({ chainId }) => chainId)
  const commands = commandsOn(folder, environmentOf(all))
  const tenant = await createTenant(folder, 'estate')
  const key = { id: tenant.keyId, apiKey: tenant.apiKey }

  const front = await startFront(frontFolder, now)
  const chains: EstateChain[] = []
  for (const [at, { chainId, rpcUrl, entryPoints, factories }] of publicChains.entries()) {
    const target = ['--app', tenant.appId, '--chain', String(chainId)]
    const payment = ['--amount', '10', '--key', 'env:OWNER_KEY']
    const filled = await commands.answer('tank', 'deposit', ...target, ...payment)
    const tank = labelled(filled, 'tank') as Hex
    const info = (): DevInfo => {
      const path = (version: string) => `${front.url}/api/${version}/${chainId}/${key.apiKey}`
      return {
        url: front.url,
        chainId,
        rpcUrl,
        pid: process.pid,
        webhookApiUrl: front.url,
        bundlerUrl: path('v2'),
        paymasterUrl: path('v2'),
        standardUrl: path('v3'),
        authToken: tenant.authToken,
        apiKey: key.apiKey,
        entryPoints,
        factories,
        tokens: [],
        tokenTanks: {},
        tanks: { '0.6': tank },
        delegates: {},
      }
    }
    chains.push({ chainId, node: nodes[at]!, deposit: await tankDeposit(info()), info })
  }

  const services: (RunningService | undefined)[] = Array(REPLICAS).fill(undefined)
  const urls = () => services.flatMap((each) => (each === undefined ? [] : [urlOf(each)]))
  const end = async (at: number, signal: NodeJS.Signals): Promise<void> => {
    const service = services[at]
    if (service === undefined) return
    await service.end(signal)
    services[at] = undefined
  }
  const start = async (at: number, served: readonly EstateChain[]): Promise<void> => {
    const flags = ['--port', '0', '--data', folder, '--log-level', 'info']
    const times = ['--drain-seconds', '0.3']
    const environment = environmentOf(served.map(({ chainId }) => chainId))
    services[at] = await startService(['serve', ...flags, ...times], environment)
    await front.use(urls())
  }
  for (const at of services.keys()) await start(at, chains)

  const endAll = (signal: NodeJS.Signals) =>
    Promise.all([...services.keys()].map((at) => end(at, signal)))
  return {
    folder,
    chains,
    front,
    hasOwnDisk,
    urls,
    async roll(served) {
      for (const at of services.keys()) {
        await end(at, 'SIGTERM')
        await start(at, served)
      }
    },
    async restartDatabase() {
      await killDatabase(folder)
      await until(() => withBooks(folder, isReachable))
    },
    fillDisk: () => fillUp(join(folder, 'filler')),
    async restore() {
      await endAll('SIGTERM')
      await postgres.stop()
      const [data, copy] = [join(folder, 'postgres'), join(frontFolder, 'backup')]
      execFileSync('cp', ['-a', data, copy])
      rmSync(data, { recursive: true })
      execFileSync('cp', ['-a', copy, data])
      rmSync(copy, { recursive: true })
      postgres = await startEmbeddedPostgres(folder, silent)
      for (const at of services.keys()) await start(at, chains)
    },
    async rotateKey() {
      const shown = await commands.answer('key', 'rotate', key.id, '--overlap', '60')
      key.id = labelled(shown, 'key')
      key.apiKey = labelled(shown, 'apiKey')
    },
    async stop() {
      await endAll('SIGKILL')
      await front.stop()
      await postgres.stop()
      await Promise.all([...nodes, ...publicChains].map((each) => each.stop()))
      if (hasOwnDisk) execFileSync('umount', ['--lazy', folder])
      for (const each of [folder, frontFolder]) removeDataFolder(each)
    },
  }
}

/** Writes until the file system takes no more; returns what deletes it. */
function fillUp(path: string): () => void {
  const file = openSync(path, 'w')
  for (let size = 1 << 20; size >= 512; ) {
    try {
      writeSync(file, Buffer.alloc(size))
    } catch {
      size >>= 1
    }
  }
  closeSync(file)
  return () => rmSync(path)
}
