import { timingSafeEqual } from 'node:crypto'
import { hashCredential } from './credential.js'

/** Compares hashes in constant time; without a configured token nobody is the operator. */
export function createOperatorCheck(configured: string | undefined) {
  const expected = configured === undefined ? undefined : hashCredential(configured)
  return (token: string): boolean =>
    expected !== undefined && timingSafeEqual(hashCredential(token), expected)
}
