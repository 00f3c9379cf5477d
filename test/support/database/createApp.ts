import type { Database } from '../../../src/db/database.js'

/** A fresh account with one app; resolves to the app's id. */
export async function createApp(database: Database): Promise<string> {
  const account = await database
    .insertInto('accounts')
    .values({ name: 'account' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const app = await database
    .insertInto('apps')
    .values({ name: 'app', account_id: account.id })
    .returning('id')
    .executeTakeFirstOrThrow()
  return app.id
}
