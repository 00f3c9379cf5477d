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
