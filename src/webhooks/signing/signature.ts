import { createHmac, randomBytes } from 'node:crypto'
import { decryptSecret, tryDecrypt } from '../../tenants/secrets.js'

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

/** The milliseconds for which an old secret still signs in addition to the new one. */
export const OVERLAP = 24 * 3_600 * 1_000

type Stored = {
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_until: Date | null
}

/** The secrets that sign now, the newest first. One that was replaced because its master key is lost does not. */
export function signingSecrets(masterKey: Buffer, stored: Stored, now: Date): string[] {
  const { secret, previous_secret, previous_secret_until } = stored
  const overlaps =
    previous_secret !== null && previous_secret_until !== null && previous_secret_until > now
  const previous = overlaps ? tryDecrypt(masterKey, SECRET_PURPOSE, previous_secret) : undefined
  const current = decryptSecret(masterKey, SECRET_PURPOSE, secret)
  return previous === undefined ? [current] : [current, previous]
}
