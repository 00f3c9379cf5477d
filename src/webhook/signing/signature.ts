import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** The purpose that a webhook's secret is encrypted for. */
export const SECRET_PURPOSE = 'webhook signature'

/**
 * A new signing secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64.
 */
export function newSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

/**
 * The three headers of Standard Webhooks over `content`, the exact bytes that the receiver signs
 * too. There is one signature per secret, so that during a rotation a receiver may know either.
 * `timestamp` is in Unix seconds.
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  content: string,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return createHmac('sha256', key).update(`${id}.${timestamp}.${content}`).digest('base64')
  }
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  }
}
