import type { Command } from 'commander'
import { tableSizes } from '../../records/startRetention.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'

/** `purser storage` */
export function defineStorageCommand(storage: Command): void {
  onStore(storage, async ({ store }) => {
    const sizes = await tableSizes(store.database)
    printTable(
      sizes.map(({ name, rows, bytes, indexBytes }) => ({ table: name, rows, bytes, indexBytes })),
    )
    const total = sizes.reduce((sum, { bytes, indexBytes }) => sum + bytes + indexBytes, 0n)
    console.log(`total ${total} bytes`)
  })
}
