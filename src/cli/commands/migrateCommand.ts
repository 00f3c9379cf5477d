import type { Command } from 'commander'
import { schemaVersion } from '../../base/version.js'
import { migrate } from '../../db/migrate.js'
import { createLogger } from '../createLogger.js'
import { placeOf, withDatabase } from '../openStore.js'
import { configOf, withOptions } from '../optionFlags.js'

/** `purser migrate`; on a server that DATABASE_URL names it also makes the schema. */
export function defineMigrateCommand(command: Command): void {
  withOptions(command, ['data', 'databaseUrl']).action(async () => {
    const prepare = async (database: Parameters<typeof migrate>[0]) =>
      void (await migrate(database))
    const config = configOf(command.opts())
    await withDatabase(config, createLogger('error'), prepare, async () =>
      console.log(
        `The schema of the database (${placeOf(config)}) is ${schemaVersion}, as this version needs.`,
      ),
    )
  })
}
