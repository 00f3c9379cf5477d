import { z } from 'zod'
import { eventTypes } from '../../base/vocabulary.js'
import type { Contracts } from './contract.js'
import {
  appParams,
  done,
  id,
  listOf,
  pageOf,
  pageQuery,
  signingSecret,
  time,
  webhook,
  webhookSettings,
} from './schemas.js'

const webhookParams = appParams.extend({ webhookId: id })

export const webhookContracts = {
  'GET /apps/{appId}/webhooks': {
    command: 'list',
    summary: 'The webhooks that approve sponsorships of an app',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(webhook),
  },
  'POST /apps/{appId}/webhooks': {
    command: 'create',
    summary: 'Register a webhook, active at once; its secret is in the answer',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: webhookSettings.partial().extend({
      webhookUrl: z.string().max(2_048),
      requestType: z.enum(['GET', 'POST']),
    }),
    answer: z.object({ webhook, ...signingSecret.shape }),
  },
  'GET /apps/{appId}/webhooks/{webhookId}': {
    summary: 'One webhook',
    who: 'account',
    role: 'viewer',
    params: webhookParams,
    answer: webhook,
  },
  'PATCH /apps/{appId}/webhooks/{webhookId}': {
    command: 'set',
    summary: 'Change how a webhook is asked, or whether',
    who: 'account',
    role: 'developer',
    params: webhookParams,
    body: webhookSettings.extend({ active: z.boolean() }).partial(),
    answer: webhook,
  },
  'POST /apps/{appId}/webhooks/{webhookId}/secret': {
    command: 'rotate',
    summary: 'A new signing secret; the old one signs too for 24 h',
    who: 'account',
    role: 'developer',
    status: 201,
    params: webhookParams,
    answer: signingSecret,
  },
  'DELETE /apps/{appId}/webhooks/{webhookId}': {
    command: 'delete',
    summary: 'Delete a webhook',
    who: 'account',
    role: 'developer',
    params: webhookParams,
    answer: done,
  },
} as const satisfies Contracts

const result = z.object({
  outcome: z.string(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  attempts: z.int(),
  durationMs: z.number(),
  startedAt: time,
})

/** Each process has a circuit of its own; the newest change of any of them counts. */
const circuit = z.enum(['open', 'closed'])

/** The calls of a webhook with their outcomes, and its circuit. */
export const webhookCallContracts = {
  'POST /apps/{appId}/webhooks/{webhookId}/test': {
    command: 'test',
    summary: 'Call the webhook once with {"purserTest": true}; decides and keeps nothing',
    who: 'account',
    role: 'developer',
    params: webhookParams,
    answer: result.extend({
      /** As it was sent, to the byte: `body` and, of a GET, the query of `url` are what is signed. */
      request: z.object({
        method: z.enum(['GET', 'POST']),
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        body: z.string().nullable(),
      }),
    }),
  },
  'GET /apps/{appId}/webhooks/{webhookId}/calls': {
    command: 'calls',
    summary: 'The calls that sponsorships made, newest first',
    who: 'account',
    role: 'viewer',
    params: webhookParams,
    query: pageQuery,
    answer: pageOf(result.extend({ id: z.string(), decisionId: id })),
  },
  'GET /apps/{appId}/webhooks/{webhookId}/circuit': {
    command: 'circuit',
    summary: 'Whether the webhook is left alone because it fails, and the newest changes of that',
    who: 'account',
    role: 'viewer',
    params: webhookParams,
    answer: z.object({ state: circuit, changes: z.array(z.object({ at: time, state: circuit })) }),
  },
} as const satisfies Contracts

const subscriptionParams = appParams.extend({ subscriptionId: id })

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
    command: 'list',
    summary: "Where the app's events go",
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(subscription),
  },
  'POST /apps/{appId}/subscriptions': {
    command: 'create',
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
    params: subscriptionParams,
    answer: subscription,
  },
  'PATCH /apps/{appId}/subscriptions/{subscriptionId}': {
    command: 'set',
    summary: 'Other events, or a pause; one that was ended by failures begins again when active',
    who: 'account',
    role: 'developer',
    params: subscriptionParams,
    body: z.strictObject({ eventTypes: types, active: z.boolean() }).partial(),
    answer: subscription,
  },
  'POST /apps/{appId}/subscriptions/{subscriptionId}/secret': {
    command: 'rotate',
    summary: 'A new signing secret; the old one signs too for 24 h',
    who: 'account',
    role: 'developer',
    status: 201,
    params: subscriptionParams,
    answer: signingSecret,
  },
  'POST /apps/{appId}/subscriptions/{subscriptionId}/replay': {
    command: 'replay',
    summary: 'Deliver kept events again: one, those since a time, those that were given up, or all',
    who: 'account',
    role: 'developer',
    params: subscriptionParams,
    body: z.strictObject({ eventId: id, since: time, onlyFailed: z.boolean() }).partial(),
    answer: z.object({ count: z.int() }),
  },
  'GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries': {
    command: 'deliveries',
    summary: 'What became of the events of the last 30 days, newest first',
    who: 'account',
    role: 'viewer',
    params: subscriptionParams,
    query: pageQuery,
    answer: pageOf(delivery),
  },
  'DELETE /apps/{appId}/subscriptions/{subscriptionId}': {
    command: 'delete',
    summary: 'Send no more; what was not delivered is forgotten',
    who: 'account',
    role: 'developer',
    params: subscriptionParams,
    answer: done,
  },
} as const satisfies Contracts
