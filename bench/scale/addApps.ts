import type { Database } from '../../src/db/database.js'
import { generateApiKey, hashCredential } from '../../src/tenants/credential.js'
import { createApp } from '../../test/support/database/createApp.js'

/** Makes `count` accounts with an app and a key each; resolves to their URLs on the service at `url`. */
export async function addApps(database: Database, url: string, count: number): Promise<string[]> {
  const urls: string[] = []
  for (let i = 0; i < count; i++) {
    const apiKey = generateApiKey()
    const appId = await createApp(database)
    const stored = { hash: hashCredential(apiKey), last4: apiKey.slice(-4) }
    await database
      .insertInto('keys')
      .values({ app_id: appId, name: 'bench', ...stored })
      .execute()
    urls.push(`${url.slice(0, url.lastIndexOf('/'))}/${apiKey}`)
  }
  return urls
}
