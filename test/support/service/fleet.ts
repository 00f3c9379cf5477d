import { sql } from 'kysely'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { isReachable } from '../../../src/db/isReachable.js'
import { LEASES_CHANNEL } from '../../../src/db/leases.js'
import { type PublicChain, startPublicChain } from '../chain/publicChain.js'
import { tankDeposit, withBooks } from '../database/books.js'
import { silent } from '../logger.js'
import { until } from '../until.js'
import { commandsOn } from './cliAnswers.js'
import { tenantInfo } from './clientView.js'
import { createTenant } from './createTenant.js'
import { fillTank } from './fillTank.js'
import { createReplica, type Replica } from './replica.js'
import { servedChain } from './servedChain.js'
import { serveEnvironment } from './serving.js'
import { makeDataFolder, removeDataFolder } from './startPurser.js'
import { killDatabase } from './survivors.js'

/** Two processes that serve and two that bundle, on one PostgreSQL server and one chain. */
export type Fleet = {
  /** Holds the server's cluster, so that `withBooks` reaches it. */
  readonly folder: string
  readonly replicas: readonly Replica[]
  /** Of the replicas, from their next start on. */
  readonly environment: { PURSER_MASTER_KEY: string } & Record<string, string>
  /** wei in the tank before any operation. */
  readonly deposit: bigint
  /** The chain and the tenant as a client of the first serving process sees them. */
  info(): DevInfo
  /** The bundler that holds the lease, as its own health says; none when it cannot say. */
  leaders(): Promise<readonly Replica[]>
  /** Until no bundle is open, so that the books can be compared. */
  quiet(): Promise<void>
  /** Kills the server; resolves when it answers again. */
  restartDatabase(): Promise<void>
  /** Lets the time of every lease pass, and the candidates hear of it. */
  expireLeases(): Promise<void>
  /** Ends every session of the replicas. */
  cutSessions(): Promise<void>
  stop(): Promise<void>
}

export async function startFleet(chainId: number): Promise<Fleet> {
  const folder = makeDataFolder()
  const chain = await startPublicChain(chainId)
  const postgres = await startEmbeddedPostgres(folder, silent)
  const environment = environmentOf(folder, chain)
  const tenant = await createTenant(folder, 'fleet')
  const tank = await fillTank(commandsOn(folder, environment), tenant.appId, chainId)

  const args = ['--data', folder, '--log-level', 'info', '--drain-seconds', '0.3']
  const replicas = (['api', 'api', 'bundler', 'bundler'] as const).map((role) =>
    createReplica(role, args, environment),
  )
  await Promise.all(replicas.map((each) => each.start()))

  const info = () => tenantInfo(chain, replicas[0]!.url(), tenant, tank)
  return {
    folder,
    environment,
    replicas,
    info,
    deposit: await tankDeposit(info()),
    leaders: async () => {
      const bundlers = replicas.filter(({ role }) => role === 'bundler')
      return (await Promise.all(bundlers.map(ifLeading))).flat()
    },
    quiet: async () => {
      await until(async () => (await openBundles(folder)) === 0)
    },
    restartDatabase: async () => {
      await killDatabase(folder)
      await until(() => withBooks(folder, isReachable))
    },
    expireLeases: () =>
      withBooks(folder, async (database) => {
        await sql`with expired as (update leases set expires_at = '-infinity' returning name)
          select pg_notify(${LEASES_CHANNEL}, name) from expired`.execute(database)
      }),
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

function environmentOf(folder: string, chain: PublicChain) {
  const executorKeys = ['env:EXECUTOR_1', 'env:EXECUTOR_2']
  return serveEnvironment(
    folder,
    servedChain(chain, { facts: { resubmitAfter: 2_000 }, executorKeys }),
    {
      EXECUTOR_1: devKey(1),
      EXECUTOR_2: devKey(2),
      OWNER_KEY: devKey(3),
    },
  )
}

async function ifLeading(replica: Replica): Promise<readonly Replica[]> {
  const signal = AbortSignal.timeout(1_000)
  const answer = await fetch(`${replica.url()}/health/ready`, { signal })
    .then((response) => response.json())
    .catch(() => undefined)
  const { chains } = (answer ?? {}) as { chains?: Record<string, { bundlesHere: boolean }> }
  return Object.values(chains ?? {}).some(({ bundlesHere }) => bundlesHere) ? [replica] : []
}

function openBundles(folder: string): Promise<number> {
  return withBooks(folder, async (database) => {
    const open = await database
      .selectFrom('bundles')
      .select('id')
      .where('state', '=', 'signed')
      .execute()
    return open.length
  })
}
