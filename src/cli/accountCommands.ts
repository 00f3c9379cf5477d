import type { Command } from 'commander'
import { ConfigError } from '../errors/configError.js'
import { insertAccount, listAccounts, revokeAccount } from '../store/accounts.js'
import { insertApp, listApps, revokeApp } from '../store/apps.js'
import type { Database } from '../store/database.js'
import { insertKey, listKeys, revokeKey } from '../store/keys.js'
import { generateApiKey, generateAuthToken, hashCredential } from '../tenancy/credential.js'
import { createLogger } from './createLogger.js'
import { withStore } from './openStore.js'
import { configOf, withOptions } from './optionFlags.js'
import { printTable } from './printTable.js'

type Flags = Record<string, string | undefined>

/** Gives a subcommand the store's options and runs it on the opened store. */
const onStore = (
  command: Command,
  run: (db: Database, flags: Flags, id: string) => Promise<void>,
) =>
  withOptions(command, ['data', 'databaseUrl', 'masterKey']).action(async (...given: unknown[]) => {
    const id = typeof given[0] === 'string' ? given[0] : ''
    const flags = given.find((each): each is Flags => typeof each === 'object') ?? {}
    await withStore(configOf(flags), createLogger('error'), ({ database }) =>
      run(database, flags, id),
    )
  })

const nameOf = ({ name = '' }: Flags): string => {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > 100 || /\p{Cc}/u.test(trimmed))
    throw new ConfigError('--name must have 1 to 100 printable characters.')
  return trimmed
}

const found = (what: string, id: string, done: boolean): void => {
  if (!done) throw new ConfigError(`There is no live ${what} ${id}; see \`purser ${what} list\`.`)
  console.log(`Revoked ${what} ${id}.`)
}

const registerAccount = (program: Command): void => {
  const account = program.command('account').description('who owns apps')
  onStore(
    account
      .command('create')
      .description('make an account and show its auth token once')
      .requiredOption('--name <name>', 'for people'),
    async (db, flags) => {
      const token = generateAuthToken()
      const { id } = await insertAccount(db, nameOf(flags), hashCredential(token))
      console.log(`account    ${id}\nauthToken  ${token}\nThe token is not shown again.`)
    },
  )
  onStore(account.command('list').description('all accounts'), async (db) =>
    printTable(await listAccounts(db)),
  )
  onStore(
    account.command('revoke').argument('<id>').description('end an account, its apps and keys'),
    async (db, _, id) => found('account', id, await revokeAccount(db, id)),
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
    async (db, flags) => {
      const made = await insertApp(db, flags.account ?? '', nameOf(flags))
      if (!made) throw new ConfigError(`There is no live account ${flags.account}.`)
      console.log(`app  ${made.id}`)
    },
  )
  onStore(app.command('list').description('all apps'), async (db) => printTable(await listApps(db)))
  onStore(
    app.command('revoke').argument('<id>').description('end an app and its keys'),
    async (db, _, id) => found('app', id, await revokeApp(db, id)),
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
    async (db, flags) => {
      const apiKey = generateApiKey()
      const made = await insertKey(db, {
        appId: flags.app ?? '',
        name: nameOf(flags),
        hash: hashCredential(apiKey),
        last4: apiKey.slice(-4),
      })
      if (!made) throw new ConfigError(`There is no live app ${flags.app}.`)
      console.log(`key     ${made.id}\napiKey  ${apiKey}\nThe key is not shown again.`)
    },
  )
  onStore(key.command('list').description('all keys'), async (db) => printTable(await listKeys(db)))
  onStore(key.command('revoke').argument('<id>').description('end a key'), async (db, _, id) =>
    found('key', id, await revokeKey(db, id)),
  )
}

/** `purser account|app|key create|list|revoke` */
export const registerAccountCommands = (program: Command): void => {
  registerAccount(program)
  registerApp(program)
  registerKey(program)
}
