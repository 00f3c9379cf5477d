import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Letters and digits only: existing SDKs refuse other characters in the path of a URL. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 40

function randomText(): string {
  let text = ''
  while (text.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      // 248 = 4 * 62: bytes above it would make the first letters likelier.
      if (byte < 248 && text.length < LENGTH) text += ALPHABET[byte % 62]
    }
  }
  return text
}

/** An API key for URL paths: publishable, it can bundle and ask for sponsorship only. */
export function generateApiKey(): string {
  return `pk.${randomText()}`
}

/** An auth token of an account: secret, it administers. */
export function generateAuthToken(): string {
  return `at.${randomText()}`
}

/** The token of a signed-in browser, for its cookie. */
export function generateSessionToken(): string {
  return `se.${randomText()}`
}

/** The token of an invitation: its first user chooses a password. */
export function generateInvitationToken(): string {
  return `in.${randomText()}`
}

/** The token of a link that signs a developer in. */
export function generateLinkToken(): string {
  return `li.${randomText()}`
}

/** What tokens of links to one operation begin with. */
export const SHARE_PREFIX = 'sh.'

/** The token of a link that shows one operation. */
export function generateShareToken(): string {
  return `${SHARE_PREFIX}${randomText()}`
}

/** The hash that is stored instead of a key or token; 238 random bits need no slow hash. */
export function hashCredential(credential: string): Buffer {
  return createHash('sha256').update(credential).digest()
}

/**
 * A check of the operator's token, in constant time; without a configured token no token passes.
 */
export function createOperatorCheck(configured: string | undefined) {
  const expected = configured === undefined ? undefined : hashCredential(configured)
  return (token: string): boolean =>
    expected !== undefined && timingSafeEqual(hashCredential(token), expected)
}
