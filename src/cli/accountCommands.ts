import type { Command } from 'commander'
import { ConfigError } from '../errors/configError.js'
import { insertAccount, listAccounts, revokeAccount } from '../store/accounts.js'
import { type App, findApp, insertApp, listApps, revokeApp } from '../store/apps.js'
import type { Database } from '../store/database.js'
import { insertKey, listKeys, revokeKey } from '../store/keys.js'
import { generateApiKey, generateAuthToken, hashCredential } from '../tenancy/credential.js'
import { parseName } from './parseFlags.js'
import { printTable } from './printTable.js'
import { onStore } from './storeCommand.js'

const unknown = (what: string, id: string | undefined): ConfigError =>
  new ConfigError(`There is no live ${what} ${id}; see \`purser ${what} list\`.`)

/** The live app that --app names. */
export const requireApp = async (db: Database, id: string | undefined): Promise<App> => {
  const app = await findApp(db, id ?? '')
  if (app === undefined) throw unknown('app', id)
  return app
}

const reportRevoked = (what: string, id: string, done: boolean): void => {
  if (!done) throw unknown(what, id)
  console.log(`Revoked ${what} ${id}.`)
}

const registerAccount = (program: Command): void => {
  const account = program.command('account').description('who owns apps')
  onStore(
    account
      .command('create')
      .description('make an account and show its auth token once')
      .requiredOption('--name <name>', 'for people'),
    async ({ store, flags }) => {
      const token = generateAuthToken()
      const { id } = await insertAccount(
        store.database,
        parseName(flags.name),
        hashCredential(token),
      )
      console.log(`account    ${id}\nauthToken  ${token}\nThe token is not shown again.`)
    },
  )
  onStore(account.command('list').description('all accounts'), async ({ store }) =>
    printTable(await listAccounts(store.database)),
  )
  onStore(
    account.command('revoke').argument('<id>').description('end an account, its apps and keys'),
    async ({ store, id }) => reportRevoked('account', id, await revokeAccount(store.database, id)),
  )
}

const registerApp = (program: Command): void => {
  const app = program.command('app').description('an app (dApp) of an account')
  onStore(
    app
      .command('create')
      .description('make an app')
      .requiredOption('--account <id>', 'its account')
      .requiredOption('--name <name>', 'for people'),
    async ({ store, flags }) => {
      const made = await insertApp(store.database, flags.account ?? '', parseName(flags.name))
      if (!made) throw unknown('account', flags.account)
      console.log(`app  ${made.id}`)
    },
  )
  onStore(app.command('list').description('all apps'), async ({ store }) =>
    printTable(await listApps(store.database)),
  )
  onStore(
    app.command('revoke').argument('<id>').description('end an app and its keys'),
    async ({ store, id }) => reportRevoked('app', id, await revokeApp(store.database, id)),
  )
}

const registerKey = (program: Command): void => {
  const key = program.command('key').description('API keys of an app')
  onStore(
    key
      .command('create')
      .description('make a key and show it once')
      .requiredOption('--app <id>', 'its app')
      .requiredOption('--name <name>', 'for people'),
    async ({ store, flags }) => {
      const apiKey = generateApiKey()
      const made = await insertKey(store.database, {
        appId: flags.app ?? '',
        name: parseName(flags.name),
        hash: hashCredential(apiKey),
        last4: apiKey.slice(-4),
      })
      if (!made) throw unknown('app', flags.app)
      console.log(`key     ${made.id}\napiKey  ${apiKey}\nThe key is not shown again.`)
    },
  )
  onStore(key.command('list').description('all keys'), async ({ store }) =>
    printTable(await listKeys(store.database)),
  )
  onStore(key.command('revoke').argument('<id>').description('end a key'), async ({ store, id }) =>
    reportRevoked('key', id, await revokeKey(store.database, id)),
  )
}

/** `purser account|app|key create|list|revoke` */
export const registerAccountCommands = (program: Command): void => {
  registerAccount(program)
  registerApp(program)
  registerKey(program)
}
