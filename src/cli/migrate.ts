import type { Command } from 'commander'
import { onStore } from './storeCommand.js'

/** `purser migrate` */
export const registerMigrate = (program: Command): void => {
  const command = program
    .command('migrate')
    .description('bring the database schema up to date (every start does it too)')
  onStore(command, async () => console.log('The schema is up to date.'))
}
