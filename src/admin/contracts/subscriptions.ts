import { z } from 'zod'
import { eventTypes } from '../../base/vocabulary.js'
import type { Contracts } from '../contract.js'
import { appParams, done, id, listOf, pageOf, pageQuery, signingSecret, time } from '../schemas.js'

const params = appParams.extend({ subscriptionId: id })

const types = z.array(z.enum(eventTypes)).min(1)

const subscription = z.object({
  id,
  url: z.string(),
  eventTypes: types,
  active: z.boolean(),
  disabledReason: z.string().nullable(),
  failingSince: time.nullable(),
  createdAt: time,
})

const delivery = z.object({
  id: z.string(),
  eventId: id,
  type: z.enum(eventTypes),
  occurredAt: time,
  data: z.record(z.string(), z.unknown()),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  nextAttemptAt: time.nullable(),
  outcome: z.string().nullable(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  /** The newest twelve at most, the oldest first. */
  recentAttempts: z.array(
    z.object({
      at: time,
      attempt: z.int(),
      milliseconds: z.int(),
      outcome: z.string(),
      httpStatus: z.int().nullable(),
      reason: z.string().nullable(),
    }),
  ),
})

/** An address to which an app's events go. */
export const subscriptionContracts = {
  'GET /apps/{appId}/subscriptions': {
    summary: "Where the app's events go",
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(subscription),
  },
  'POST /apps/{appId}/subscriptions': {
    summary: 'Send events to a URL from now on; the signing secret is in the answer',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: z.strictObject({ url: z.string().max(2_048), eventTypes: types }),
    answer: z.object({ subscription, ...signingSecret.shape }),
  },
  'GET /apps/{appId}/subscriptions/{subscriptionId}': {
    summary: 'One subscription',
    who: 'account',
    role: 'viewer',
    params,
    answer: subscription,
  },
  'PATCH /apps/{appId}/subscriptions/{subscriptionId}': {
    summary: 'Other events, or a pause; one that was ended by failures begins again when active',
    who: 'account',
    role: 'developer',
    params,
    body: z.strictObject({ eventTypes: types, active: z.boolean() }).partial(),
    answer: subscription,
  },
  'POST /apps/{appId}/subscriptions/{subscriptionId}/secret': {
    summary: 'A new signing secret; the old one signs too for 24 h',
    who: 'account',
    role: 'developer',
    status: 201,
    params,
    answer: signingSecret,
  },
  'POST /apps/{appId}/subscriptions/{subscriptionId}/replay': {
    summary: 'Deliver kept events again: one, those since a time, those that were given up, or all',
    who: 'account',
    role: 'developer',
    params,
    body: z.strictObject({ eventId: id, since: time, onlyFailed: z.boolean() }).partial(),
    answer: z.object({ count: z.int() }),
  },
  'GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries': {
    summary: 'What became of the events of the last 30 days, newest first',
    who: 'account',
    role: 'viewer',
    params,
    query: pageQuery,
    answer: pageOf(delivery),
  },
  'DELETE /apps/{appId}/subscriptions/{subscriptionId}': {
    summary: 'Send no more; what was not delivered is forgotten',
    who: 'account',
    role: 'developer',
    params,
    answer: done,
  },
} as const satisfies Contracts
