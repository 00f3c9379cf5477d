import { timingSafeEqual } from 'node:crypto'
import { hashCredential } from './credential.js'

/**
 * A check of the operator's token, in constant time; without a configured token no token passes.
 */
export function createOperatorCheck(configured: string | undefined) {
  const expected = configured === undefined ? undefined : hashCredential(configured)
  return (token: string): boolean =>
    expected !== undefined && timingSafeEqual(hashCredential(token), expected)
}
