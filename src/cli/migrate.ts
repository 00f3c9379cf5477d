import type { Command } from 'commander'
import { createLogger } from './createLogger.js'
import { withStore } from './openStore.js'
import { configOf, withOptions } from './optionFlags.js'

export const registerMigrate = (program: Command): void => {
  const command = program
    .command('migrate')
    .description('bring the database schema up to date (every start does it too)')
  withOptions(command, ['data', 'databaseUrl', 'masterKey'])
  command.action(async (flags: Record<string, unknown>) => {
    await withStore(configOf(flags), createLogger('error'), async () => {
      console.log('The schema is up to date.')
    })
  })
}
