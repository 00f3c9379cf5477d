import { decryptSecret } from '../../tenancy/secrets.js'
import { SECRET_PURPOSE } from './signature.js'

/** The milliseconds for which an old secret signs beside the one that replaced it. */
export const OVERLAP = 24 * 3_600 * 1_000

type Stored = {
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_until: Date | null
}

/** The secrets that sign now, the newest first. */
export function signingSecrets(masterKey: Buffer, stored: Stored, now: Date): string[] {
  const { secret, previous_secret, previous_secret_until } = stored
  const overlaps =
    previous_secret !== null && previous_secret_until !== null && previous_secret_until > now
  return [secret, ...(overlaps ? [previous_secret] : [])].map((each) =>
    decryptSecret(masterKey, SECRET_PURPOSE, each),
  )
}
