import type { Logger } from 'pino'
import { ConfigError } from '../base/errors/configError.js'
import type { Metrics } from '../base/metrics/metrics.js'
import type {
  OutboundClient,
  OutboundRequest,
  OutboundResponse,
} from '../base/outbound/guardedRequest.js'
import { version } from '../base/version.js'
import type { Database } from '../db/database.js'
import { pruneEvents } from '../db/events.js'
import { isRecordedKey } from '../tenants/masterKey.js'
import { tryDecrypt } from '../tenants/secrets.js'
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryAttempt,
  finishDelivery,
  returnDelivery,
} from './deliveries.js'
import { nextAttempt, retrySchedule } from './retrySchedule.js'
import { SECRET_PURPOSE, signatureHeaders, signingSecrets } from './signing/signature.js'
import { disableSubscription, noteFailing, noteWorking } from './subscriptions.js'

export type DelivererContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly client: OutboundClient
  readonly logger: Logger
  readonly metrics: Metrics
  /** Milliseconds before each attempt. */
  readonly schedule?: readonly number[]
  /** The milliseconds after which deliveries that a dead process had claimed are tried again. */
  readonly lease?: number
}

const POLL_INTERVAL = 500
const ATTEMPT_TIMEOUT = 15_000
const IN_FLIGHT = 20
const PER_SUBSCRIPTION = 5
/** Those of the above that are left to subscriptions with nothing under way: the subscriptions of an app may all hang. */
const LEFT_TO_IDLE = 5
/** The days after which a subscription that only fails ends, and after which events are deleted. */
const FAILING_DAYS = 5
const KEPT_DAYS = 30
const PRUNE_INTERVAL = 3_600_000

/**
 * Delivers events from the outbox, at least once each and in no certain order, concurrently with other
 * processes that do the same. `close` interrupts deliveries under way, which are repeated later.
 */
export function startEventDeliverer(context: DelivererContext): { close(): Promise<void> } {
  const { database, logger, lease = 60_000 } = context
  const closing = new AbortController()
  const { signal } = closing
  // By claim: after a replay, a delivery may be under way twice.
  const running = new Map<ClaimedDelivery, Promise<void>>()
  let wake = (): void => {}
  let pruned = Number.NEGATIVE_INFINITY

  /** Waits until a delivery has ended, or the poll interval is over. */
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_INTERVAL)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const underWay = (): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const { subscriptionId } of running.keys())
      counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1)
    return counts
  }

  const begin = (delivery: ClaimedDelivery): void => {
    const done = deliver(context, delivery, signal)
      .catch((err) => logger.error({ err, eventId: delivery.eventId }, 'delivery not recorded'))
      .finally(() => {
        running.delete(delivery)
        wake()
      })
    running.set(delivery, done)
  }

  const claim = async (): Promise<number> => {
    const free = IN_FLIGHT - running.size
    if (free === 0) return 0
    const isScarce = free <= LEFT_TO_IDLE
    const claimed = await claimDeliveries(database, {
      limit: isScarce ? free : free - LEFT_TO_IDLE,
      perSubscription: isScarce ? 1 : PER_SUBSCRIPTION,
      lease,
      underWay: underWay(),
    })
    for (const delivery of claimed) begin(delivery)
    return claimed.length
  }

  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        if (performance.now() - pruned > PRUNE_INTERVAL) {
          await pruneEvents(database, KEPT_DAYS)
          pruned = performance.now()
        }
        if ((await claim()) > 0) continue
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'events are waiting for the database')
      }
      await pause()
    }
  }
  const worked = work()

  return {
    close: async () => {
      closing.abort()
      wake()
      await worked
      await Promise.all(running.values())
    },
  }
}

async function deliver(
  context: DelivererContext,
  delivery: ClaimedDelivery,
  closing: AbortSignal,
): Promise<void> {
  const { database, client, masterKey } = context
  if (tryDecrypt(masterKey, SECRET_PURPOSE, delivery.secret) === undefined)
    return endUnsigned(context, delivery)
  const signal = AbortSignal.any([closing, AbortSignal.timeout(ATTEMPT_TIMEOUT)])
  const begun = performance.now()
  const { response } = await client.request(eventRequest(delivery, masterKey), signal)
  const milliseconds = Math.round(performance.now() - begun)
  const failure = failureOf(response)
  if (closing.aborted && failure !== undefined) return returnDelivery(database, delivery)
  const outcome = failure?.outcome ?? 'delivered'
  context.metrics.count('purser_event_deliveries_total', { outcome })
  await database
    .transaction()
    .execute((trx) => record({ ...context, database: trx }, delivery, response, milliseconds))
}

/**
 * Ends a delivery that cannot be signed, with its subscription. With a key that is not the database's own nothing is
 * lost: a process that has the new one delivers it.
 */
async function endUnsigned(
  { database, masterKey, logger }: DelivererContext,
  claimed: ClaimedDelivery,
): Promise<void> {
  if ((await isRecordedKey(database, masterKey)) === false)
    throw new ConfigError('The master key of this process is no longer that of the database.')
  const { attempts, subscriptionId } = claimed
  const reason = 'its signing secret is lost with the master key: rotate it'
  const end = {
    attempt: attempts,
    milliseconds: 0,
    outcome: 'secret_lost',
    httpStatus: null,
    reason,
  }
  const ended = await database.transaction().execute(async (trx) => {
    await finishDelivery(trx, claimed, 'failed', end)
    return disableSubscription(trx, subscriptionId, reason)
  })
  if (ended) logger.error({ subscriptionId }, 'subscription ended: its signing secret is lost')
}

async function record(
  { database, logger, schedule = retrySchedule }: DelivererContext,
  claimed: ClaimedDelivery,
  response: OutboundResponse,
  milliseconds: number,
): Promise<void> {
  const { attempts, subscriptionId, eventId } = claimed
  const measured = { attempt: attempts, milliseconds }
  const failure = failureOf(response)
  const { status = null } = response
  if (failure === undefined) {
    const end = { ...measured, outcome: 'delivered', httpStatus: status, reason: null }
    if (!(await finishDelivery(database, claimed, 'delivered', end))) return
    return noteWorking(database, subscriptionId)
  }
  const { outcome, reason, retryAfter } = failure
  const end: DeliveryAttempt = { ...measured, outcome, httpStatus: status, reason }
  const facts = { eventId, subscriptionId, outcome, status, attempts }
  if (status === 410) {
    if (!(await finishDelivery(database, claimed, 'failed', end))) return
    await disableSubscription(database, subscriptionId, 'its receiver answered 410 Gone')
    return logger.warn(facts, 'subscription ended by its receiver')
  }
  const next = nextAttempt(attempts, retryAfter, Math.random(), schedule)
  const state = next === undefined ? 'failed' : 'pending'
  if (!(await finishDelivery(database, claimed, state, end, next))) return
  const ended = await noteFailing(database, subscriptionId, FAILING_DAYS)
  logger.warn({ ...facts, next, ended }, 'event not delivered')
}

/** undefined = the receiver took the event: its status says so, and nobody reads the body. */
function failureOf(response: OutboundResponse) {
  const { status = 0 } = response
  return response.ok || (status >= 200 && status < 300) ? undefined : response
}

/** The body that Standard Webhooks recommends; the event's id is the same in every attempt. */
function eventRequest(delivery: ClaimedDelivery, masterKey: Buffer): OutboundRequest {
  const { eventId, type, occurredAt, data, url } = delivery
  const body = JSON.stringify({ type, timestamp: occurredAt.toISOString(), data })
  const now = new Date()
  const secrets = signingSecrets(masterKey, delivery, now)
  return {
    url: new URL(url),
    method: 'POST',
    headers: {
      ...signatureHeaders(secrets, eventId, Math.floor(now.getTime() / 1000), body),
      'content-type': 'application/json',
      'user-agent': `Purser/${version}`,
      'accept-encoding': 'identity',
    },
    body: Buffer.from(body),
  }
}
