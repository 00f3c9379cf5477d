import type { Command } from 'commander'
import { z } from 'zod'
import { webhookSettings } from '../../admin/schemas.js'
import { defined } from '../../base/defined.js'
import type { Config } from '../../config/options.js'
import { ConfigError } from '../../errors/configError.js'
import { createOutboundClient } from '../../outbound/guardedRequest.js'
import { createNetworkGuard } from '../../outbound/networkGuard.js'
import { listCallsOfWebhook } from '../../store/ledger/webhookCalls.js'
import { findWebhook } from '../../store/tenants/webhooks.js'
import { isUuid } from '../../store/uuid.js'
import { createWebhooks, type RequestType, type Webhooks } from '../../webhook/manage.js'
import { testWebhook } from '../../webhook/testWebhook.js'
import { webhookDeadline } from '../../webhook/webhookDeadline.js'
import { commandActor } from '../commandActor.js'
import { type Flags, onStore } from '../onStore.js'
import type { CommandStore } from '../openStore.js'
import { printTable } from '../printTable.js'
import { requireApp } from './accountCommands.js'

function webhooksOf({ database, masterKey }: CommandStore, { webhookAllow }: Config): Webhooks {
  return createWebhooks({
    database,
    masterKey: masterKey(),
    guard: createNetworkGuard(webhookAllow),
    actor: commandActor(),
  })
}

function unknown(id: string, appId: string): ConfigError {
  return new ConfigError(
    `The app has no webhook ${id}; see \`purser webhook list --app ${appId}\`.`,
  )
}

const settingsSchema = webhookSettings
  .extend({ deadlineMs: z.coerce.number().pipe(webhookSettings.shape.deadlineMs) })
  .extend({ active: z.enum(['true', 'false']).transform((text) => text === 'true') })
  .partial()

const flagNames = {
  payload: '--payload',
  onFailure: '--on-failure',
  deadlineMs: '--deadline',
  active: '--active',
}

function parseSettings(flags: Flags) {
  const { payload, onFailure, deadline: deadlineMs, active } = flags
  const parsed = settingsSchema.safeParse({ payload, onFailure, deadlineMs, active })
  if (parsed.success) return defined(parsed.data)
  const [issue] = parsed.error.issues
  const name = flagNames[issue?.path[0] as keyof typeof flagNames]
  throw new ConfigError(`${name}: ${issue?.message ?? 'is wrong'}.`)
}

function parseRequestType(text = 'POST'): RequestType {
  if (text === 'GET' || text === 'POST') return text
  throw new ConfigError('--request must be GET or POST.')
}

/** The options for how a webhook is asked. */
function withSettings(command: Command): Command {
  return command
    .option('--payload <kind>', 'plain, or extended with the operation')
    .option('--on-failure <meaning>', 'deny or approve when it gives no answer')
    .option('--deadline <ms>', `${webhookDeadline.shortest} to ${webhookDeadline.longest}`)
}

function defineCreation(webhook: Command): void {
  onStore(
    withSettings(
      webhook
        .command('create')
        .description('register a webhook, active at once; shows the secret of its calls')
        .requiredOption('--app <id>', 'whose sponsorships it approves')
        .requiredOption('--url <url>', 'what is called')
        .option('--request <method>', 'GET or POST (default)'),
    ),
    async ({ store, config, flags }) => {
      const app = await requireApp(store.database, flags.app)
      const webhooks = webhooksOf(store, config)
      const made = await webhooks.create(app.id, {
        webhookUrl: flags.url ?? '',
        requestType: parseRequestType(flags.request),
        ...parseSettings(flags),
      })
      console.log(`webhook  ${made.webhookId}`)
      console.log(`secret   ${await webhooks.signingSecret(app.id, made.webhookId)}`)
    },
    ['webhookAllow'],
  )
}

/** `purser webhook create|list|set|secret|rotate|test|calls`; the API deletes. */
export function defineWebhookCommand(webhook: Command): void {
  const ofOne = (name: string, description: string) =>
    webhook
      .command(name)
      .description(description)
      .argument('<id>', 'the webhook')
      .requiredOption('--app <id>', 'whose webhook it is')

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
  defineCreation(webhook)
  onStore(
    withSettings(ofOne('set', 'change how a webhook is asked, or whether')).option(
      '--active <boolean>',
      'true or false',
    ),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      const settings = parseSettings(flags)
      const changed = await webhooksOf(store, config).change(app.id, id, settings)
      if (changed === undefined) throw unknown(id, app.id)
      printTable([changed])
    },
  )
  onStore(
    ofOne('secret', 'show the secret by which its receiver verifies our calls'),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      const secret = await webhooksOf(store, config).signingSecret(app.id, id)
      if (secret === undefined) throw unknown(id, app.id)
      console.log(secret)
    },
  )
  onStore(
    ofOne('rotate', 'make and show a new secret; the old one signs too for 24 h'),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      const secret = await webhooksOf(store, config).rotateSecret(app.id, id)
      if (secret === undefined) throw unknown(id, app.id)
      console.log(secret)
    },
  )
  onStore(
    ofOne('test', 'call it once and show what it answers'),
    async ({ store, config, flags, id }) => {
      const { database, masterKey } = store
      const app = await requireApp(database, flags.app)
      const stored = isUuid(id) ? await findWebhook(database, app.id, id) : undefined
      if (stored === undefined) throw unknown(id, app.id)
      const client = createOutboundClient(createNetworkGuard(config.webhookAllow))
      try {
        printTable([(await testWebhook({ masterKey: masterKey(), client }, stored)).call])
      } finally {
        client.close()
      }
    },
    ['webhookAllow'],
  )
  onStore(ofOne('calls', 'its last 50 calls'), async ({ store, flags, id }) => {
    const app = await requireApp(store.database, flags.app)
    if (!isUuid(id)) throw unknown(id, app.id)
    const page = { limit: 50, before: undefined }
    const { items } = await listCallsOfWebhook(store.database, app.id, id, page)
    printTable(
      items.map(({ started_at, outcome, http_status, attempts, duration_ms, reason }) => ({
        startedAt: started_at,
        outcome,
        httpStatus: http_status,
        attempts,
        milliseconds: Math.round(duration_ms),
        reason,
      })),
    )
  })
}
