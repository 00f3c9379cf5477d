import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type Database, openDatabase } from '../../src/db/database.js'
import { startEmbeddedPostgres } from '../../src/db/embedded/embeddedPostgres.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import {
  countWork,
  prepareCounting,
  type WorkCount,
} from '../../test/support/database/databaseWork.js'
import { silent } from '../../test/support/logger.js'
import { descendantsOf } from '../../test/support/service/processes.js'
import {
  makeDataFolder,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../../test/support/service/startPurser.js'
import type { LoadChain } from './loadChain.js'
import type { LoadOptions, Payer } from './loadOptions.js'
import { postgresOn } from './processUsage.js'

/** npm runs scripts in the folder of package.json. */
const CLI = resolve('dist/cli.js')

/** Ether; what sponsorships reserve is held until the chain is final. */
const MONEY = '900'

export type OwnService = {
  /** The standard dialect's URL with its key. */
  readonly url: string
  /** The same with another key, which has limits of its own. */
  readonly secondUrl: string
  readonly pids: { readonly service: readonly number[]; readonly database: readonly number[] }
  readonly database: Database
  /** The file in which the server of the database logs. */
  readonly databaseLog: string
  readonly appId: string
  /** The stream of the app's changes, and the token for it. */
  readonly stream: { readonly url: string; readonly authToken: string }
  /** Counts the work of the database from now on. */
  countWork(): Promise<WorkCount>
  close(): Promise<void>
}

type ServiceOptions = {
  readonly chainId: number
  readonly rpcUrl: string
  readonly entryPoints: readonly { readonly version: Version; readonly address: string }[]
  readonly version: Version
  readonly payer: Payer
  readonly executors: number
  /** More than one share a database that this process runs; 1 where it is absent. */
  readonly processes?: number
  /** Of the pool; the default where it is absent. */
  readonly maxOperations?: number
  /** Facts of the chain; the defaults where it is absent. */
  readonly facts?: object
}

/** `startOwnService` for a load. */
export function serviceOn(
  { chainId, rpcUrl, entryPoints }: Pick<LoadChain, 'chainId' | 'rpcUrl' | 'entryPoints'>,
  { payer, version, executors, processes }: LoadOptions,
): Promise<OwnService> {
  const all = Object.entries(entryPoints).map(([each, address]) => ({
    version: each as Version,
    address,
  }))
  return startOwnService({
    ...{ chainId, rpcUrl, payer, version, executors, processes },
    entryPoints: all,
  })
}

/** Purser as operators run it: a process of its own, the embedded database, default settings. */
export async function startOwnService(options: ServiceOptions): Promise<OwnService> {
  const folder = makeDataFolder()
  const executorKeys = Array.from({ length: options.executors }, (_, i) => devKey(i + 1))
  const { chainId, rpcUrl, entryPoints, maxOperations, processes = 1 } = options
  const chain = { chainId, rpcUrls: [rpcUrl], entryPoints, executorKeys, maxOperations }
  const chains = [{ ...chain, facts: { pollInterval: 100, ...options.facts } }]
  const config = join(folder, 'purser.json')
  writeFileSync(config, JSON.stringify({ chains, port: 0, logLevel: 'warn', keyRate: 0 }))
  const environment = {
    PURSER_CONFIG: config,
    PURSER_MASTER_KEY: '5e'.repeat(32),
    PAYER: devKey(0),
  }

  const command = async (...args: string[]): Promise<Record<string, string>> => {
    const { code, stdout, stderr } = await runCli([...args, '--data', folder], environment, CLI)
    if (code !== 0) throw new Error(`purser ${args.join(' ')}: ${stderr}`)
    const lines = stdout.split('\n').map((line) => /^(\w+) +(.+)$/.exec(line))
    return Object.fromEntries(lines.flatMap((line) => (line ? [[line[1], line[2]]] : [])))
  }

  try {
    // The first start makes the database and its key; commands make neither.
    await (await startService(['serve', '--data', folder], environment, CLI)).end('SIGTERM')
    const { account = '', authToken = '' } = await command('account', 'create', '--name', 'bench')
    const { app = '' } = await command('app', 'create', '--account', account, '--name', 'bench')
    const createKey = async () =>
      (await command('key', 'create', '--app', app, '--name', 'bench')).apiKey
    const [apiKey, secondKey] = [await createKey(), await createKey()]
    const fund = ['--app', app, '--chain', String(chainId)]
    const tank = [...fund, '--entry-point', options.version]
    const amount = ['--amount', MONEY]
    if (options.payer === 'tank')
      await command('tank', 'deposit', ...tank, ...amount, '--key', 'env:PAYER')
    if (options.payer === 'native') {
      await command('tank', 'mode', ...fund, '--mode', 'native')
      await command('tank', 'credit', ...fund, ...amount, '--reference', 'bench')
    }
    await prepareCounting(folder)
    const shared = processes > 1 ? await startEmbeddedPostgres(folder, silent) : undefined
    const cluster = encodeURIComponent(join(folder, 'postgres/cluster'))
    const together = {
      ...environment,
      PURSER_PROCESSES: String(processes),
      DATABASE_URL: `postgresql:///postgres?host=${cluster}&user=purser`,
    }
    const service = await startService(
      ['serve', '--data', folder],
      shared ? together : environment,
      CLI,
    )
    const postgres = shared ?? (await startEmbeddedPostgres(folder, silent))
    const database = openDatabase(postgres.connection, silent)
    const { pid } = service.process
    return {
      url: `${urlOf(service)}/api/v3/${chainId}/${apiKey}`,
      secondUrl: `${urlOf(service)}/api/v3/${chainId}/${secondKey}`,
      pids: {
        service: pid === undefined ? [] : [pid, ...(shared ? descendantsOf(pid) : [])],
        get database() {
          return postgresOn(folder)
        },
      },
      database,
      databaseLog: join(folder, 'postgres/server.log'),
      appId: app,
      stream: { url: `${urlOf(service)}/admin/v1/apps/${app}/stream`, authToken },
      countWork: () => countWork(database),
      async close() {
        await database.destroy()
        if (shared) await service.end('SIGTERM')
        await postgres.stop()
        if (!shared) await service.end('SIGTERM')
        removeDataFolder(folder)
      },
    }
  } catch (error) {
    removeDataFolder(folder)
    throw error
  }
}
