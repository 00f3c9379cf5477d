import type { Command } from 'commander'
import { ConfigError } from '../../errors/configError.js'
import type { Database } from '../../store/database.js'
import { listAccounts } from '../../store/tenants/accounts.js'
import { type App, findApp, listApps } from '../../store/tenants/apps.js'
import { audited } from '../../store/tenants/audit.js'
import { findKeyById, listKeys } from '../../store/tenants/keys.js'
import { createAccount, endAccount } from '../../tenancy/manageAccounts.js'
import { changeApp, createTenantApp, endApp } from '../../tenancy/manageApps.js'
import { createKey, endKey, rotateKey } from '../../tenancy/manageKeys.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'
import { parseName, parseSponsor } from '../parseFlags.js'
import { printTable } from '../printTable.js'
import { unknownObject } from '../unknownObject.js'
import { defineAppLimit, defineKeyQuotas, quotasText, withQuotas } from './quotaCommands.js'

/** The live app that --app names. */
export async function requireApp(db: Database, id: string | undefined): Promise<App> {
  const app = await findApp(db, id ?? '')
  if (app === undefined) throw unknownObject('app', id)
  return app
}

function reportRevoked(what: string, id: string, done: boolean): void {
  if (!done) throw unknownObject(what, id)
  console.log(`Revoked ${what} ${id}.`)
}

/** `purser account create|list|revoke` */
export function defineAccountCommand(account: Command): void {
  onStore(
    account
      .command('create')
      .description('make an account and show its auth token once')
      .requiredOption('--name <name>', 'for people'),
    async ({ store, flags }) => {
      const name = parseName(flags.name)
      const { account, authToken } = await audited(store.database, commandActor(), (change) =>
        createAccount(change, name),
      )
      console.log(
        `account    ${account.id}\nauthToken  ${authToken}\nThe token is not shown again.`,
      )
    },
  )
  onStore(account.command('list').description('all accounts'), async ({ store }) =>
    printTable(await listAccounts(store.database)),
  )
  onStore(
    account.command('revoke').argument('<id>').description('end an account, its apps and keys'),
    async ({ store, id }) =>
      reportRevoked(
        'account',
        id,
        await audited(store.database, commandActor(), (change) => endAccount(change, id)),
      ),
  )
}

/** `purser app create|list|limit|sponsor|revoke` */
export function defineAppCommand(app: Command): void {
  onStore(
    app
      .command('create')
      .description('make an app')
      .requiredOption('--account <id>', 'its account')
      .requiredOption('--name <name>', 'for people'),
    async ({ store, flags }) => {
      const name = parseName(flags.name)
      const made = await audited(store.database, commandActor(), (change) =>
        createTenantApp(change, flags.account ?? '', name),
      )
      if (!made) throw unknownObject('account', flags.account)
      console.log(`app  ${made.id}`)
    },
  )
  defineAppLimit(app)
  onStore(app.command('list').description('all apps'), async ({ store }) => {
    const apps = await listApps(store.database)
    printTable(
      apps.map(({ sponsor, quotas, ...rest }) => ({
        ...rest,
        sponsor: sponsor?.name,
        quotas: quotasText(quotas),
      })),
    )
  })
  onStore(
    app
      .command('sponsor')
      .argument('<id>', 'the app')
      .description('whom wallets show as the one that pays; nobody without --name')
      .option('--name <name>', 'for the users of the app')
      .option('--icon <uri>', 'a data URI of an image, or an https URL'),
    async ({ store, flags, id }) => {
      const sponsor = parseSponsor(flags.name, flags.icon)
      const changed = await audited(store.database, commandActor(), (change) =>
        changeApp(change, id, { sponsor }),
      )
      if (!changed) throw unknownObject('app', id)
      console.log(`sponsor  ${changed.sponsor?.name ?? 'nobody'}`)
    },
  )
  onStore(
    app.command('revoke').argument('<id>').description('end an app and its keys'),
    async ({ store, id }) =>
      reportRevoked(
        'app',
        id,
        await audited(store.database, commandActor(), (change) => endApp(change, id)),
      ),
  )
}

/** `purser key create|limit|list|revoke|rotate|usage` */
export function defineKeyCommand(key: Command): void {
  onStore(
    withQuotas(
      key
        .command('create')
        .description('make a key and show it once')
        .requiredOption('--app <id>', 'its app')
        .requiredOption('--name <name>', 'for people')
        .option('--scopes <list>', 'bundler, paymaster; both when absent')
        .option('--methods <list>', 'JSON-RPC methods; all of the scopes when absent')
        .option('--origins <list>', 'origins such as https://dapp.example; any when absent')
        .option('--ips <list>', 'addresses and CIDR ranges; any when absent')
        .option('--expires <time>', 'such as 2030-01-31T12:00:00Z; never when absent'),
    ),
    async ({ store, flags }) => {
      // Loaded for this command only: the limits name all methods, which load most of the service.
      const { parseKeyLimits } = await import('../parseKeyLimits.js')
      const newKey = { name: parseName(flags.name), ...parseKeyLimits(flags) }
      const made = await audited(store.database, commandActor(), (change) =>
        createKey(change, flags.app ?? '', newKey),
      )
      if (!made) throw unknownObject('app', flags.app)
      console.log(`key     ${made.key.id}\napiKey  ${made.apiKey}\nThe key is not shown again.`)
    },
  )
  onStore(
    key
      .command('rotate')
      .argument('<id>')
      .description('a new key with the same limits; the old one ends after the overlap')
      .option('--overlap <seconds>', 'for how long both are good', '86400'),
    async ({ store, flags, id }) => {
      const overlap = Number(flags.overlap)
      if (!Number.isInteger(overlap) || overlap < 0)
        throw new ConfigError('--overlap must be a number of seconds.')
      const { appId = '' } = (await findKeyById(store.database, id)) ?? {}
      const made = await audited(store.database, commandActor(), (change) =>
        rotateKey(change, appId, id, overlap),
      )
      if (!made) throw unknownObject('key', id)
      console.log(`key     ${made.key.id}\napiKey  ${made.apiKey}\nThe key is not shown again.`)
    },
  )
  onStore(key.command('list').description('all keys'), async ({ store }) => {
    const keys = await listKeys(store.database)
    printTable(keys.map((each) => ({ ...each, quotas: quotasText(each.quotas) })))
  })
  defineKeyQuotas(key)
  onStore(
    key.command('revoke').argument('<id>').description('end a key'),
    async ({ store, id }) => {
      const { appId = '' } = (await findKeyById(store.database, id)) ?? {}
      const isRevoked = await audited(store.database, commandActor(), (change) =>
        endKey(change, appId, id),
      )
      reportRevoked('key', id, isRevoked)
    },
  )
}
