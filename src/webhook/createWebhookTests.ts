import { Lru } from '../base/lru.js'
import { RateLimitError } from '../errors/limitErrors.js'
import type { StoredWebhook } from '../store/tenants/webhooks.js'
import { type TestedCall, testWebhook } from './testWebhook.js'

/** Milliseconds between two tests of an app: the service must not be a means to flood somebody. */
const PAUSE = 5_000
/** Apps whose last test is remembered. */
const REMEMBERED = 10_000

/**
 * A function that calls webhooks as `testWebhook` does, for an app once in 5 s. It throws RateLimitError
 * for more.
 */
export function createWebhookTests(
  context: Parameters<typeof testWebhook>[0],
): (webhook: StoredWebhook) => Promise<TestedCall> {
  const lastOfApp = new Lru<string, number>(REMEMBERED)
  return async (webhook) => {
    const now = performance.now()
    const last = lastOfApp.get(webhook.app_id) ?? Number.NEGATIVE_INFINITY
    if (now - last < PAUSE) throw new RateLimitError('webhookTest', (last + PAUSE - now) / 1_000)
    lastOfApp.set(webhook.app_id, now)
    return testWebhook(context, webhook)
  }
}
