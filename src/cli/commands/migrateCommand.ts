import type { Command } from 'commander'
import { onStore } from '../onStore.js'

/** `purser migrate` */
export function defineMigrateCommand(command: Command): void {
  onStore(command, async () => console.log('The schema is up to date.'))
}
