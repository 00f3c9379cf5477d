import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { RateLimitError } from '../errors/limitErrors.js'
import type { Database } from '../store/database.js'
import { countAttempt, forgetFailures, isTrusted } from '../store/people/signInAttempts.js'
import { findPasswordHash, findUserByEmail } from '../store/people/users.js'
import { audited } from '../store/tenants/audit.js'
import type { Passwords } from './passwords.js'

export type AccessContext = {
  readonly database: Database
  readonly passwords: Passwords
  readonly logger: Logger
}

/** The origin of an attempt. */
export type Visitor = {
  readonly ip: string
  /** The address, or the network that it belongs to: what one party can have many addresses of. */
  readonly network: string
  readonly requestId: string
  readonly agent: string | null
}

/** Attempts with one e-mail address that fail before each further one has to wait: from one network, and from all. */
const FREE_OF_NETWORK = 5
const FREE_OF_ALL = 20

function subjectOf(...parts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

/**
 * The hash of the user's password if this is the password; undefined = it is wrong, or there is no such user: both
 * take as long and count alike. A network from which the user signed in before is not kept out by the failures of
 * others.
 * @param email - in lower case
 * @throws RateLimitError when too many attempts failed, on whichever replica
 */
export async function checkPassword(
  context: AccessContext,
  email: string,
  password: string,
  visitor: Visitor,
): Promise<string | undefined> {
  const { database, passwords } = context
  const ofNetwork = subjectOf(email, visitor.network)
  const ofAll = subjectOf(email)
  const isKnownPlace = await isTrusted(database, ofNetwork)
  const failures = [await requireUnlocked(database, ofNetwork, FREE_OF_NETWORK)]
  if (!isKnownPlace) failures.push(await requireUnlocked(database, ofAll, FREE_OF_ALL))
  const hash = await findPasswordHash(database, email)
  if (await passwords.verify(hash, password, visitor.network)) {
    await forgetFailures(database, ofNetwork, isKnownPlace ? [] : [ofAll])
    return hash
  }
  if (isNoted(Math.max(...failures))) noteFailures(context, email, visitor)
  return undefined
}

async function requireUnlocked(database: Database, subject: Buffer, free: number): Promise<number> {
  const attempt = await countAttempt(database, subject, free)
  if (attempt.isLocked) throw new RateLimitError('signIn', attempt.seconds)
  return attempt.failures
}

/** 5, 10, 20, 40, …: strangers must not fill the audit log, which is for ever. */
function isNoted(failures: number): boolean {
  return failures % FREE_OF_NETWORK === 0 && Number.isInteger(Math.log2(failures / FREE_OF_NETWORK))
}

/** Writes behind the answer: of a user that is not there nothing is written, and the time must not tell. */
function noteFailures({ database, logger }: AccessContext, email: string, visitor: Visitor): void {
  const { ip, requestId } = visitor
  const write = async (): Promise<void> => {
    const user = await findUserByEmail(database, email)
    if (user === undefined) return
    await audited(database, { kind: 'user', id: null, ip, requestId }, ({ record }) =>
      record({ action: 'session.refused', objectId: user.id, accountId: null, appId: null }),
    )
  }
  write().catch((err) => logger.warn({ err }, 'failed attempts to sign in were not recorded'))
}
