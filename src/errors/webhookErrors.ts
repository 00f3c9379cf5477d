import { PurserError } from './purserError.js'

/** The app has as many webhooks as it may have. */
export class WebhookLimitError extends PurserError {
  override readonly name = 'WebhookLimitError'
  constructor(limit: number) {
    super(`This app has ${limit} webhooks, the most it may have. Delete one first.`, {
      code: -32602,
      status: 400,
      data: { limit },
    })
  }
}

/** The app has as many subscriptions to events as it may have. */
export class SubscriptionLimitError extends PurserError {
  override readonly name = 'SubscriptionLimitError'
  constructor(limit: number) {
    super(`This app has ${limit} subscriptions, the most it may have. Delete one first.`, {
      code: -32602,
      status: 400,
      data: { limit },
    })
  }
}
