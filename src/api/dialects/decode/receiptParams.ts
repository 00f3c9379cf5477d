import type { Hex } from 'viem'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeHash } from './bytes.js'

/** What counts as included: a block of the chain, or also one that the sequencer has promised. */
export type ReceiptTag = 'latest' | 'pending'

/** [userOpHash, tag?] */
export function decodeReceiptParams([hash, tag = 'latest']: readonly unknown[]): {
  readonly hash: Hex
  readonly tag: ReceiptTag
} {
  if (tag !== null && tag !== 'latest' && tag !== 'pending')
    throw new InvalidParamsError('params[1]', 'must be "latest" or "pending"')
  return { hash: decodeHash(hash, 'params[0]'), tag: tag ?? 'latest' }
}
