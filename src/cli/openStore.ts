import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { faultPoint } from '../base/faults.js'
import type { Config } from '../config/options.js'
import { ConfigError } from '../errors/configError.js'
import { type Connection, type Database, openDatabase } from '../store/database.js'
import { migrate } from '../store/migrate.js'
import { durabilityRisks, durabilitySettings } from '../store/postgres/durability.js'
import { startEmbeddedPostgres } from '../store/postgres/embeddedPostgres.js'
import { loadMasterKey } from '../tenancy/secrets.js'

export type Store = {
  readonly connection: Connection
  readonly database: Database
  readonly masterKey: Buffer
  /** Ends an embedded database too, unless another process uses it. */
  close(): Promise<void>
}

async function connectionOf(config: Config, logger: Logger) {
  if (config.databaseUrl === undefined) return startEmbeddedPostgres(config.data, logger)
  return { connection: { url: config.databaseUrl }, stop: async () => {} }
}

/** The place of the database, without the parts of a URL that may be secret. */
function placeOf({ databaseUrl, data }: Config): string {
  if (databaseUrl === undefined) return data
  const { host, searchParams } = new URL(databaseUrl)
  return host || (searchParams.get('host') ?? 'localhost')
}

/**
 * Makes the data folder, which holds keys and the database, for its owner alone. One that an earlier
 * version made open to others is closed; a folder that somebody else made is left as it is.
 */
function openDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(join(folder, 'postgres'))) chmodSync(folder, 0o700)
}

function openFolder(config: Config): Buffer {
  try {
    openDataFolder(config.data)
    return loadMasterKey(config.masterKey, config.data)
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(
      `The data folder ${config.data} cannot be used: ${(cause as Error).message}.`,
      { cause },
    )
  }
}

/**
 * The database of a configuration, its schema up to date, and the key of its secrets.
 * @throws ConfigError when the database cannot be reached or the master key is wrong
 */
export async function openStore(config: Config, logger: Logger): Promise<Store> {
  const masterKey = openFolder(config)
  const { connection, stop } = await connectionOf(config, logger)
  const database = openDatabase(connection, logger)
  const close = async () => {
    await database.destroy()
    await stop()
  }
  try {
    await migrate(database)
    faultPoint('start:migrated')
    for (const risk of durabilityRisks(await durabilitySettings(database)))
      logger.warn(`The database server keeps less than we promise: ${risk}`)
  } catch (cause) {
    await close()
    throw new ConfigError(
      `The database (${placeOf(config)}) cannot be used: ${(cause as Error).message || 'it does not answer'}.`,
      { cause },
    )
  }
  return { connection, database, masterKey, close }
}

/** Runs an administrative command on the store and closes it whatever happens. */
export async function withStore<Result>(
  config: Config,
  logger: Logger,
  run: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(config, logger)
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}
