import type { Database } from '../../../src/store/database.js'
import { openDatabase } from '../../../src/store/database.js'
import { startEmbeddedPostgres } from '../../../src/store/postgres/embeddedPostgres.js'
import { silent } from '../logger.js'

/** Looks into the database of a data folder, beside the service that may be using it. */
export async function withFolderDatabase<Result>(
  dataFolder: string,
  look: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { connection, stop } = await startEmbeddedPostgres(dataFolder, silent)
  const database = openDatabase(connection, silent, 1)
  try {
    return await look(database)
  } finally {
    await database.destroy()
    await stop()
  }
}
