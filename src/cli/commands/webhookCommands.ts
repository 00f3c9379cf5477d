import type { Command } from 'commander'
import { webhookCallRoutes } from '../../api/admin/routes/webhooks.js'
import { createOutboundClient } from '../../base/outbound/guardedRequest.js'
import { createNetworkGuard } from '../../base/outbound/networkGuard.js'
import { eventTypes } from '../../base/vocabulary.js'
import type { Config } from '../../config/options.js'
import type { Actor } from '../../tenants/audit.js'
import { createWebhooks, webhookRoutes } from '../../webhooks/manage.js'
import { createSubscriptions, subscriptionRoutes } from '../../webhooks/subscriptions.js'
import { testWebhook } from '../../webhooks/testWebhook.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'
import type { CommandStore } from '../openStore.js'
import { requireApp, unknownObject } from '../requireApp.js'
import { defineRoutes, type GroupTerms } from '../routeCommands.js'

function partsOf({ database, masterKey }: CommandStore, { webhookAllow }: Config) {
  const guard = createNetworkGuard(webhookAllow)
  const contextFor = (actor: Actor) => ({ database, masterKey: masterKey(), guard, actor })
  return {
    webhooks: (actor: Actor) => createWebhooks(contextFor(actor)),
    subscriptions: (actor: Actor) => createSubscriptions(contextFor(actor)),
    async testWebhook(webhook: Parameters<typeof testWebhook>[1]) {
      const client = createOutboundClient(guard)
      try {
        return await testWebhook({ masterKey: masterKey(), client }, webhook)
      } finally {
        client.close()
      }
    },
  }
}

const settings = ['webhookAllow'] as const

/** `purser webhook create|list|set|secret|rotate|delete|test|calls|circuit` */
export function defineWebhookCommand(webhook: Command): void {
  const terms: GroupTerms = {
    parts: partsOf,
    commands: { create: { settings, defaults: { requestType: 'POST' } }, test: { settings } },
  }
  defineRoutes(webhook, webhookRoutes, terms)
  defineRoutes(webhook, webhookCallRoutes, terms)
  // The API never answers it: its callers need not own the endpoint.
  onStore(
    webhook
      .command('secret')
      .description('show the secret with which its receiver verifies our calls')
      .argument('<id>', 'the webhook')
      .requiredOption('--app <id>', "the webhook's app"),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      const webhooks = partsOf(store, config).webhooks(commandActor())
      const secret = await webhooks.signingSecret(app.id, id)
      if (secret === undefined) throw unknownObject('webhook', id)
      console.log(secret)
    },
  )
}

/** `purser subscription create|list|set|rotate|delete|replay|deliveries` */
export function defineSubscriptionCommand(subscription: Command): void {
  defineRoutes(subscription, subscriptionRoutes, {
    parts: partsOf,
    commands: { create: { settings, defaults: { eventTypes: [...eventTypes] } } },
  })
}
