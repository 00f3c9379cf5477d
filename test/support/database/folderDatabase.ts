import type { Database } from '../../../src/db/database.js'
import { openDatabase } from '../../../src/db/database.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { silent } from '../logger.js'

/** Looks into the database of a data folder, also while a service uses it. */
export async function withFolderDatabase<Result>(
  dataFolder: string,
  look: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { connection, stop } = await startEmbeddedPostgres(dataFolder, silent)
  const database = openDatabase(connection, silent, { size: 1 })
  try {
    return await look(database)
  } finally {
    await database.destroy()
    await stop()
  }
}
