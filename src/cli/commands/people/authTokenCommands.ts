import type { Command } from 'commander'
import { authTokenRoutes, listAuthTokens } from '../../../tenants/authTokens.js'
import { onStore } from '../../onStore.js'
import { printTable } from '../../printTable.js'
import { defineRoutes } from '../../routeCommands.js'

/** `purser auth-token create|list|revoke`; `purser token` is about tokens that are paid for gas. */
export function defineAuthTokenCommand(token: Command): void {
  onStore(
    token
      .command('list')
      .description('tokens, without revoked ones')
      .option('--account <id>', 'of this account'),
    async ({ store, flags }) => printTable(await listAuthTokens(store.database, flags.account)),
  )
  defineRoutes(token, authTokenRoutes)
}
