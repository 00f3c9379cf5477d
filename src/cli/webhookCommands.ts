import type { Command } from 'commander'
import type { Config } from '../config/options.js'
import { ConfigError } from '../errors/configError.js'
import { createWebhooks, type Webhooks } from '../webhook/manage.js'
import { createNetworkGuard } from '../webhook/networkGuard.js'
import { requireApp } from './accountCommands.js'
import type { Store } from './openStore.js'
import { printTable } from './printTable.js'
import { onStore } from './storeCommand.js'

const webhooksOf = ({ database, masterKey }: Store, { webhookAllow }: Config): Webhooks =>
  createWebhooks({ database, masterKey, guard: createNetworkGuard(webhookAllow) })

/** `purser webhook list|secret`; the API does the rest. */
export const registerWebhookCommands = (program: Command): void => {
  const webhook = program.command('webhook').description('webhooks that approve sponsorships')
  onStore(
    webhook
      .command('list')
      .description('the webhooks of an app')
      .requiredOption('--app <id>', 'its id'),
    async ({ store, config, flags }) => {
      const app = await requireApp(store.database, flags.app)
      printTable(await webhooksOf(store, config).list(app.id))
    },
  )
  onStore(
    webhook
      .command('secret')
      .description('show the secret by which its receiver verifies our calls')
      .argument('<id>', 'the webhook')
      .requiredOption('--app <id>', 'whose webhook it is'),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      const secret = await webhooksOf(store, config).signingSecret(app.id, id)
      if (secret === undefined)
        throw new ConfigError(
          `The app has no webhook ${id}; see \`purser webhook list --app ${app.id}\`.`,
        )
      console.log(secret)
    },
  )
}
