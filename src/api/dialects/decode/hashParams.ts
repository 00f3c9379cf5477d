import type { Hex } from 'viem'
import { decodeHash } from './bytes.js'

/** [userOpHash] */
export function decodeHashParams([hash]: readonly unknown[]): { readonly hash: Hex } {
  return { hash: decodeHash(hash, 'params[0]') }
}
