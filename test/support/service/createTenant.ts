import { openDatabase } from '../../../src/db/database.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { migrate } from '../../../src/db/migrate.js'
import { createAccount } from '../../../src/tenants/accounts.js'
import { createTenantApp } from '../../../src/tenants/apps.js'
import { audited } from '../../../src/tenants/audit.js'
import { createKey } from '../../../src/tenants/keys.js'
import { loadMasterKey } from '../../../src/tenants/secrets.js'
import { testActor } from '../actor.js'
import { silent } from '../logger.js'

/**
 * An account with an app and a key in the database of a data folder. For tests whose matter is not
 * the commands that make them (see `commandsOn`): three processes fewer.
 */
export async function createTenant(dataFolder: string, name: string) {
  const { connection, stop } = await startEmbeddedPostgres(dataFolder, silent)
  const database = openDatabase(connection, silent, { size: 1 })
  try {
    await migrate(database)
    // As a service that ran here would have left it: none is made when there are accounts.
    loadMasterKey(undefined, dataFolder)
    return await audited(database, testActor, async (change) => {
      const { account, authToken } = await createAccount(change, name)
      const app = await createTenantApp(change, account.id, name)
      const shown = app && (await createKey(change, app.id, { name }))
      if (shown === undefined) throw new Error('the app is gone')
      const { key, apiKey } = shown
      return { accountId: account.id, authToken, appId: key.appId, keyId: key.id, apiKey }
    })
  } finally {
    await database.destroy()
    await stop()
  }
}
