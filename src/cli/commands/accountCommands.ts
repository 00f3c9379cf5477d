import type { Command } from 'commander'
import { abiRoutes } from '../../api/admin/routes/abis.js'
import { keyRoutes } from '../../api/admin/routes/keys.js'
import { ConfigError } from '../../base/errors/configError.js'
import { accountRoutes } from '../../tenants/accounts.js'
import { appRoutes, findAnyApp } from '../../tenants/apps.js'
import { findAnyKey, listKeys } from '../../tenants/keys.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'
import { defineRoutes } from '../routeCommands.js'

/** `purser account create|list|token|revoke` */
export function defineAccountCommand(account: Command): void {
  defineRoutes(account, accountRoutes)
}

type Sponsored = { readonly sponsor: { readonly name: string } | null }

/** `purser app create|list|limit|sponsor|abi|describe|revoke` */
export function defineAppCommand(app: Command): void {
  defineRoutes(app, appRoutes, {
    commands: {
      list: { row: (each: Sponsored) => ({ ...each, sponsor: each.sponsor?.name }) },
      limit: {
        body: async (given, _, { store, id }) =>
          withOtherQuotas(given, await findAnyApp(store.database, id)),
      },
      sponsor: {
        flags: {
          '--name <name>': 'for the users of the app; nobody when absent',
          '--icon <uri>': 'a data URI of an image, or an https URL',
        },
        body: (_, { name, icon }) => {
          if (name === undefined && icon !== undefined)
            throw new ConfigError('--icon needs --name.')
          return { sponsor: name === undefined ? null : { name, icon } }
        },
        print: ({ sponsor }: Sponsored) => console.log(`sponsor  ${sponsor?.name ?? 'nobody'}`),
      },
    },
  })
  defineRoutes(app, abiRoutes, {
    commands: { abi: { print: printLines }, describe: { print: printLines } },
  })
}

function printLines({ items }: { readonly items: readonly string[] }): void {
  console.log(items.join('\n'))
}

/** `purser key create|limit|list|revoke|rotate|usage` */
export function defineKeyCommand(key: Command): void {
  onStore(
    key.command('list').description('all keys').option('--app <id>', 'its app'),
    async ({ store, flags }) => printTable(await listKeys(store.database, flags.app)),
  )
  defineRoutes(key, keyRoutes, {
    appOf: async (database, id) => (await findAnyKey(database, id))?.appId,
    commands: {
      limit: {
        body: async (given, _, { store, id }) =>
          withOtherQuotas(given, await findAnyKey(store.database, id)),
      },
    },
  })
}

type Limited = { readonly quotas?: object | null }

/** The members that flags gave, with the quotas that no flag names: a request replaces all three. */
function withOtherQuotas(given: Limited, before: Limited | undefined) {
  if (given.quotas === undefined) return given
  const quotas = Object.entries({ ...before?.quotas, ...given.quotas })
  const kept = quotas.filter(([, quota]) => quota !== null)
  return { ...given, quotas: kept.length === 0 ? null : Object.fromEntries(kept) }
}
