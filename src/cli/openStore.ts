import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { ConfigError } from '../base/errors/configError.js'
import { faultPoint } from '../base/faults.js'
import type { Config } from '../config/options.js'
import { type Connection, type Database, openDatabase } from '../db/database.js'
import { durabilityRisks, durabilitySettings } from '../db/embedded/durability.js'
import { startEmbeddedPostgres } from '../db/embedded/embeddedPostgres.js'
import { hasSchema, migrate } from '../db/migrate.js'
import { createTroubleMemory } from '../db/storageTrouble.js'
import {
  fittingMasterKey,
  type KeyPlace,
  missingKey,
  requireMasterKey,
} from '../tenants/masterKey.js'
import { readMasterKey } from '../tenants/secrets.js'

/** Connections for lists and for what administrators do; an overview asks five questions at once. */
const ADMIN_POOL = 5

export type Store = {
  readonly connection: Connection
  readonly database: Database
  /** The same database for lists, administration and retention, whose statements are planned one by one. */
  readonly adminDatabase: Database
  readonly masterKey: Buffer
  /** Ends an embedded database too, unless another process uses it. */
  close(): Promise<void>
}

/** The store for a command: it makes nothing, and most commands need no master key. */
export type CommandStore = OpenDatabase & {
  /** Throws ConfigError where there is none. */
  masterKey(): Buffer
}

type OpenDatabase = Omit<Store, 'masterKey' | 'adminDatabase'>

async function connectionOf(config: Config, logger: Logger) {
  if (config.databaseUrl === undefined) return startEmbeddedPostgres(config.data, logger)
  return { connection: { url: config.databaseUrl }, stop: async () => {} }
}

/** The place of the database, without the parts of a URL that may be secret. */
export function placeOf({ databaseUrl, data }: Config): string {
  if (databaseUrl === undefined) return data
  const { host, searchParams } = new URL(databaseUrl)
  return host || (searchParams.get('host') ?? 'localhost')
}

/**
 * Makes the data folder, which holds keys and the database, for its owner alone. One that an earlier
 * version made open to others is closed; a folder that somebody else made is left as it is.
 */
function openDataFolder({ data }: Config): void {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    if (existsSync(join(data, 'postgres'))) chmodSync(data, 0o700)
  } catch (cause) {
    throw new ConfigError(`The data folder ${data} cannot be used: ${(cause as Error).message}.`, {
      cause,
    })
  }
}

/** The message of the server or the driver: for the operator, never for callers of the API. */
function reasonOf(error: Error): string {
  const { cause } = error
  const words = (cause instanceof Error && cause.message) || error.message || 'it does not answer'
  return words.replace(/\.$/, '')
}

/** Opens the database and prepares it; nothing is left running when that fails. */
async function openPrepared<Prepared>(
  config: Config,
  logger: Logger,
  prepare: (database: Database) => Promise<Prepared>,
): Promise<Omit<Store, 'masterKey'> & { readonly prepared: Prepared }> {
  const { connection, stop } = await connectionOf(config, logger)
  const trouble = createTroubleMemory(logger)
  const database = openDatabase(connection, logger, { trouble })
  // A pool connects when it is first used.
  const adminDatabase = openDatabase(connection, logger, {
    size: ADMIN_POOL,
    plans: 'ordinary',
    trouble,
  })
  const close = async () => {
    await Promise.all([database.destroy(), adminDatabase.destroy()])
    await stop()
  }
  try {
    return { connection, database, adminDatabase, close, prepared: await prepare(adminDatabase) }
  } catch (cause) {
    await close()
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(
      `The database (${placeOf(config)}) cannot be used: ${reasonOf(cause as Error)}.`,
      { cause },
    )
  }
}

/** The place of the master key. A key that cannot be one is refused before anything is started. */
function keyPlace({ masterKey, masterKeyPrevious: previous, data }: Config): KeyPlace {
  readMasterKey(masterKey, data, previous)
  return { configured: masterKey, dataFolder: data, previous }
}

/**
 * The store of a service: the database of a configuration, its schema up to date, and the key of its
 * secrets. A data folder, a database in it and a master key are made where there are none.
 * @throws ConfigError when the database cannot be reached or the master key is not the database's
 */
export async function openStore(config: Config, logger: Logger): Promise<Store> {
  openDataFolder(config)
  const place = keyPlace(config)
  const { prepared, ...opened } = await openPrepared(config, logger, async (database) => {
    await migrate(database)
    faultPoint('start:migrated')
    for (const risk of durabilityRisks(await durabilitySettings(database)))
      logger.warn(`The database server's settings weaken durability: ${risk}`)
    return requireMasterKey(database, place)
  })
  return { ...opened, masterKey: prepared }
}

/** Refuses a data folder without a database: a command in a wrong folder would work on an empty one. */
function requireCluster({ databaseUrl, data }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(data, 'postgres', 'cluster'))) return
  throw new ConfigError(
    `There is no Purser database in ${resolve(data)}: run \`purser serve\` or \`purser dev\` there first, or say where it is by --data, or by DATABASE_URL.`,
  )
}

/** Opens the database that a command works on, which must be there. */
export async function withDatabase<Result>(
  config: Config,
  logger: Logger,
  prepare: (database: Database) => Promise<void>,
  run: (opened: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  requireCluster(config)
  const { prepared: _, adminDatabase, ...opened } = await openPrepared(config, logger, prepare)
  try {
    return await run({ ...opened, database: adminDatabase })
  } finally {
    await opened.close()
  }
}

/** Opens a database that a backup is loaded into; makes the data folder of an embedded one. */
export async function withNewDatabase(
  config: Config,
  logger: Logger,
  run: (database: Database) => Promise<void>,
): Promise<void> {
  if (config.databaseUrl === undefined) openDataFolder(config)
  const { close } = await openPrepared(config, logger, run)
  await close()
}

/** Refuses a database without a schema: a command on the wrong one would find nothing. */
export async function requireSchema(database: Database): Promise<void> {
  if (!(await hasSchema(database)))
    throw new ConfigError(
      'The database of DATABASE_URL has no Purser schema: name the right one, or create the schema with `purser migrate`.',
    )
}

/** Brings the schema that somebody made up to date. */
export async function upgradeSchema(database: Database): Promise<void> {
  await requireSchema(database)
  await migrate(database)
}

/** Runs an administrative command on the store that there is and closes it whatever happens. */
export async function withStore<Result>(
  config: Config,
  logger: Logger,
  run: (store: CommandStore) => Promise<Result>,
): Promise<Result> {
  const place = keyPlace(config)
  return withDatabase(config, logger, upgradeSchema, async (opened) => {
    const key = await fittingMasterKey(opened.database, place)
    const masterKey = (): Buffer => {
      if (key === undefined) throw missingKey(place)
      return key
    }
    return run({ ...opened, masterKey })
  })
}
