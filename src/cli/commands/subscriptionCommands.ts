import type { Command } from 'commander'
import { type EventType, eventTypes } from '../../base/vocabulary.js'
import type { Config } from '../../config/options.js'
import { ConfigError } from '../../errors/configError.js'
import { createNetworkGuard } from '../../outbound/networkGuard.js'
import { isUuid } from '../../store/uuid.js'
import { createSubscriptions, type Subscriptions } from '../../webhook/subscriptions.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'
import type { CommandStore } from '../openStore.js'
import { printTable } from '../printTable.js'
import { requireApp } from './accountCommands.js'

function subscriptionsOf(
  { database, masterKey }: CommandStore,
  { webhookAllow }: Config,
): Subscriptions {
  return createSubscriptions({
    database,
    masterKey: masterKey(),
    guard: createNetworkGuard(webhookAllow),
    actor: commandActor(),
  })
}

function unknown(id: string, appId: string): ConfigError {
  return new ConfigError(
    `The app has no subscription ${id}; see \`purser subscription list --app ${appId}\`.`,
  )
}

function parseTypes(text: string | undefined): EventType[] {
  const types = text === undefined ? eventTypes : text.split(',')
  const wrong = types.find((type) => !(eventTypes as readonly string[]).includes(type))
  if (wrong !== undefined)
    throw new ConfigError(`--events: there is no ${wrong}. There are ${eventTypes.join(', ')}.`)
  return [...types] as EventType[]
}

function parseTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new ConfigError('--since must be a time such as 2026-01-31T12:00:00Z.')
  return time
}

/** `purser subscription create|list|delete|replay` */
export function defineSubscriptionCommand(subscription: Command): void {
  onStore(
    subscription
      .command('create')
      .description('deliver events to a URL and show the secret that signs them')
      .requiredOption('--app <id>', 'whose events')
      .requiredOption('--url <url>', 'the receiver')
      .option('--events <list>', `comma separated; all when absent: ${eventTypes.join(', ')}`),
    async ({ store, config, flags }) => {
      const app = await requireApp(store.database, flags.app)
      const newSubscription = { url: flags.url ?? '', eventTypes: parseTypes(flags.events) }
      const created = await subscriptionsOf(store, config).create(app.id, newSubscription)
      console.log(
        `subscription   ${created.subscription.id}\nsigningSecret  ${created.signingSecret}`,
      )
    },
    ['webhookAllow'],
  )
  onStore(
    subscription
      .command('list')
      .description('the subscriptions of an app')
      .requiredOption('--app <id>', 'its id'),
    async ({ store, config, flags }) => {
      const app = await requireApp(store.database, flags.app)
      printTable(await subscriptionsOf(store, config).list(app.id))
    },
  )
  onStore(
    subscription
      .command('delete')
      .description('deliver no more')
      .argument('<id>', 'the subscription')
      .requiredOption('--app <id>', 'whose it is'),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      if (!(await subscriptionsOf(store, config).delete(app.id, id))) throw unknown(id, app.id)
      console.log(`Deleted subscription ${id}.`)
    },
  )
  onStore(
    subscription
      .command('replay')
      .description('deliver kept events again')
      .argument('<id>', 'the subscription')
      .requiredOption('--app <id>', 'whose it is')
      .option('--event <id>', 'only this one')
      .option('--since <time>', 'only those from then on')
      .option('--failed', 'only those that were given up'),
    async ({ store, config, flags, id }) => {
      const app = await requireApp(store.database, flags.app)
      if (flags.event !== undefined && !isUuid(flags.event))
        throw new ConfigError('--event must be the id of an event, its header webhook-id.')
      const which = {
        eventId: flags.event,
        since: parseTime(flags.since),
        onlyFailed: flags.failed !== undefined,
      }
      const count = await subscriptionsOf(store, config).replay(app.id, id, which)
      if (count === undefined) throw unknown(id, app.id)
      console.log(`${count} events are delivered again.`)
    },
  )
}
