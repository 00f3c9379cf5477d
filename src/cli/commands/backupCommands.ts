import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { ConfigError } from '../../base/errors/configError.js'
import { createNodeClient } from '../../chain/nodeClient.js'
import type { Config } from '../../config/options.js'
import { readBackup, writeBackup } from '../../db/backup.js'
import { type Database, openDatabase } from '../../db/database.js'
import { startEmbeddedPostgres } from '../../db/embedded/embeddedPostgres.js'
import { hasSchema, migrate } from '../../db/migrate.js'
import { bookedChains } from '../../records/books.js'
import { isRecordedKey, tryMasterKey } from '../../tenants/masterKey.js'
import { readMasterKey } from '../../tenants/secrets.js'
import { chainOf } from '../chainOf.js'
import { checkBooks, checkLedger } from '../check/checkBooks.js'
import { type Finding, printFindings, reasonOf, reporterOf } from '../check/finding.js'
import { createLogger } from '../createLogger.js'
import { requireSchema, withDatabase, withNewDatabase } from '../openStore.js'
import { configOf, withOptions } from '../optionFlags.js'

/** `purser backup create|verify|restore` */
export function defineBackupCommand(backup: Command): void {
  withOptions(
    backup
      .command('create')
      .argument('<file>', 'a new file')
      .description('write the whole database to a file while the service runs'),
    ['data', 'databaseUrl'],
  ).action(async (file: string, flags: Record<string, unknown>) => {
    const logger = createLogger('error')
    await withDatabase(configOf(flags), logger, requireSchema, ({ database }) =>
      writeBackup(database, file),
    )
    console.log(`${file} holds the database. The master key is not in it: keep it separately.`)
  })

  withOptions(
    backup
      .command('verify')
      .argument('<file>', 'what `backup create` wrote')
      .description('restore a backup into a database of its own, compare its books with the chains')
      .option('--json', 'print findings as JSON'),
    ['data', 'masterKey', 'chains'],
  ).action(async (file: string, { json, ...flags }: Record<string, unknown>) => {
    const config = configOf(flags)
    const findings = await onScratchDatabase((database) => verify(database, file, config))
    printFindings(findings, json === true)
  })

  withOptions(
    backup
      .command('restore')
      .argument('<file>', 'what `backup create` wrote')
      .description('load a backup into an empty database; no process of Purser may use it'),
    ['data', 'databaseUrl'],
  ).action(async (file: string, flags: Record<string, unknown>) => {
    await withNewDatabase(configOf(flags), createLogger('error'), async (database) => {
      if (await hasSchema(database))
        throw new ConfigError("The database already has Purser's schema: use an empty one.")
      const { rows, takenAt } = await readBackup(database, file).catch(async (cause: Error) => {
        if (!(await hasSchema(database))) throw cause
        const left =
          'The database has the schema and no rows now: use another one for the next try.'
        throw new ConfigError(`${cause.message} ${left}`, { cause })
      })
      console.log(
        `${rows} rows of ${takenAt} are restored. Before you start a service, read "What a restore forgets" in the manual.`,
      )
    })
  })
}

/** An embedded database in a folder of its own, which is gone afterwards. */
async function onScratchDatabase<Result>(
  run: (database: Database) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-verify-'))
  const logger = createLogger('error')
  try {
    const { connection, stop } = await startEmbeddedPostgres(folder, logger)
    const database = openDatabase(connection, logger, { size: 3, plans: 'ordinary' })
    try {
      return await run(database)
    } finally {
      await database.destroy()
      await stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function verify(database: Database, file: string, config: Config): Promise<Finding[]> {
  const { rows, purser, takenAt } = await readBackup(database, file)
  await migrate(database)
  const loaded = `the backup of ${takenAt} by ${purser} is whole and loads: ${rows} rows`
  const chains = await bookedChains(database)
  const compared = await Promise.all(chains.map((chainId) => compare(database, chainId, config)))
  return [
    reporterOf('database').ok(loaded),
    ...(await checkLedger(database)),
    await checkKey(database, config),
    ...compared.flat(),
  ]
}

async function checkKey(database: Database, { masterKey, data }: Config): Promise<Finding> {
  const report = reporterOf('keys')
  const key = readMasterKey(masterKey, data)
  if (key === undefined)
    return report.warning('there is no master key here to try', 'verify where the key is')
  const { opened, lost } = await tryMasterKey(database, key)
  if ((await isRecordedKey(database, key)) === false || lost.length > 0)
    return report.fault(
      'the master key is not the one of the backup',
      'find the key that was in use then',
    )
  return report.ok(`the master key decrypts all ${opened} secrets`)
}

async function compare(database: Database, chainId: number, config: Config): Promise<Finding[]> {
  const report = reporterOf('nodes', chainId)
  try {
    const { chain } = chainOf(config, String(chainId))
    const node = createNodeClient({ urls: chain.rpcUrls, logger: createLogger('silent') })
    try {
      return await checkBooks(node, chainId, database)
    } finally {
      await node.close()
    }
  } catch (error) {
    if (error instanceof ConfigError)
      return [report.warning('its books could not be compared', reasonOf(error))]
    return [report.fault(`the node did not answer: ${reasonOf(error)}`, 'correct rpcUrls')]
  }
}
