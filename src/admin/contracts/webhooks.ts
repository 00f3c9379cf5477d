import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { appParams, done, id, listOf, signingSecret, webhook, webhookSettings } from '../schemas.js'

const params = appParams.extend({ webhookId: id })

export const webhookContracts = {
  'GET /apps/{appId}/webhooks': {
    summary: 'The webhooks that approve sponsorships of an app',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(webhook),
  },
  'POST /apps/{appId}/webhooks': {
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
    params,
    answer: webhook,
  },
  'PATCH /apps/{appId}/webhooks/{webhookId}': {
    summary: 'Change how a webhook is asked, or whether',
    who: 'account',
    role: 'developer',
    params,
    body: webhookSettings.extend({ active: z.boolean() }).partial(),
    answer: webhook,
  },
  'POST /apps/{appId}/webhooks/{webhookId}/secret': {
    summary: 'A new signing secret; the old one signs too for 24 h',
    who: 'account',
    role: 'developer',
    status: 201,
    params,
    answer: signingSecret,
  },
  'DELETE /apps/{appId}/webhooks/{webhookId}': {
    summary: 'Delete a webhook',
    who: 'account',
    role: 'developer',
    params,
    answer: done,
  },
} as const satisfies Contracts
