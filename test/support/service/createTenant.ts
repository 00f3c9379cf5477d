import { openDatabase } from '../../../src/store/database.js'
import { migrate } from '../../../src/store/migrate.js'
import { startEmbeddedPostgres } from '../../../src/store/postgres/embeddedPostgres.js'
import { audited } from '../../../src/store/tenants/audit.js'
import { createAccount } from '../../../src/tenancy/manageAccounts.js'
import { createTenantApp } from '../../../src/tenancy/manageApps.js'
import { createKey } from '../../../src/tenancy/manageKeys.js'
import { loadMasterKey } from '../../../src/tenancy/secrets.js'
import { testActor } from '../actor.js'
import { silent } from '../logger.js'

/**
 * An account with an app and a key in the database of a data folder. For tests whose matter is not
 * the commands that make them (see `commandsOn`): three processes fewer.
 */
export async function createTenant(dataFolder: string, name: string) {
  const { connection, stop } = await startEmbeddedPostgres(dataFolder, silent)
  const database = openDatabase(connection, silent, 1)
  try {
    await migrate(database)
    // As a service that ran here would have left it: none is made beside accounts.
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
