import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/devnet/devKeys.js'
import { isReachable } from '../../../src/store/isReachable.js'
import { startEmbeddedPostgres } from '../../../src/store/postgres/embeddedPostgres.js'
import { type PublicChain, startPublicChain } from '../chain/publicChain.js'
import { tankDeposit, withBooks } from '../database/books.js'
import { silent } from '../logger.js'
import { until } from '../until.js'
import { commandsOn, labelled } from './cliAnswers.js'
import { createTenant } from './createTenant.js'
import { createReplica, type Replica } from './replica.js'
import { serveEnvironment } from './serving.js'
import { makeDataFolder, removeDataFolder } from './startPurser.js'
import { killDatabase } from './survivors.js'

/** Two processes that serve and two that bundle, on one PostgreSQL server and one chain. */
export type Fleet = {
  /** Holds the server's cluster, so that `withBooks` reaches it. */
  readonly folder: string
  readonly replicas: readonly Replica[]
  /** wei in the tank before any operation. */
  readonly deposit: bigint
  /** The chain and the tenant as a client of the first serving process sees them. */
  info(): DevInfo
  /** Kills the server; resolves when it answers again. */
  restartDatabase(): Promise<void>
  /** Ends every session of the replicas. */
  cutSessions(): Promise<void>
  stop(): Promise<void>
}

/** Seconds without life after which another process bundles. */
export const LEASE_SECONDS = 1.5

export async function startFleet(chainId: number): Promise<Fleet> {
  const folder = makeDataFolder()
  const chain = await startPublicChain(chainId)
  const postgres = await startEmbeddedPostgres(folder, silent)
  const environment = environmentOf(folder, chain)
  const tenant = await openTenant(folder, chain, environment)

  const flags = ['--data', folder, '--log-level', 'info', '--drain-seconds', '0.3']
  const args = [...flags, '--lease-seconds', String(LEASE_SECONDS)]
  const replicas = (['api', 'api', 'bundler', 'bundler'] as const).map((role) =>
    createReplica(role, args, environment),
  )
  await Promise.all(replicas.map((each) => each.start()))

  const info = (): DevInfo => {
    const url = replicas[0]!.url()
    const path = (version: string) => `${url}/api/${version}/${chainId}/${tenant.apiKey}`
    return {
      url,
      chainId,
      rpcUrl: chain.rpcUrl,
      pid: process.pid,
      webhookApiUrl: url,
      bundlerUrl: path('v2'),
      paymasterUrl: path('v2'),
      standardUrl: path('v3'),
      authToken: tenant.authToken,
      apiKey: tenant.apiKey,
      entryPoints: chain.entryPoints,
      factories: chain.factories,
      tokens: [],
      tokenTanks: {},
      tanks: { '0.6': tenant.tank },
      delegates: {},
    }
  }
  return {
    folder,
    replicas,
    info,
    deposit: await tankDeposit(info()),
    restartDatabase: async () => {
      await killDatabase(folder)
      await until(() => withBooks(folder, isReachable))
    },
    cutSessions: () =>
      withBooks(folder, async (database) => {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where pid <> pg_backend_pid() and application_name like 'purser%'
          and backend_type = 'client backend'`.execute(database)
      }),
    stop: async () => {
      await Promise.all(replicas.map((each) => each.end('SIGKILL')))
      await postgres.stop()
      await chain.stop()
      removeDataFolder(folder)
    },
  }
}

function environmentOf(folder: string, { chainId, rpcUrl }: PublicChain) {
  return serveEnvironment(
    folder,
    {
      chainId,
      rpcUrls: [rpcUrl],
      pollInterval: 50,
      resubmitAfter: 2_000,
      executorKeys: ['env:EXECUTOR_1', 'env:EXECUTOR_2'],
    },
    { EXECUTOR_1: devKey(1), EXECUTOR_2: devKey(2), OWNER_KEY: devKey(3) },
  )
}

async function openTenant(
  folder: string,
  { chainId }: PublicChain,
  environment: Readonly<Record<string, string>>,
) {
  const { answer } = commandsOn(folder, environment)
  const made = await createTenant(folder, 'fleet')
  const target = ['--app', made.appId, '--chain', String(chainId)]
  const filled = await answer(
    'tank',
    'deposit',
    ...target,
    '--amount',
    '10',
    '--key',
    'env:OWNER_KEY',
  )
  return { ...made, tank: labelled(filled, 'tank') as Hex }
}
