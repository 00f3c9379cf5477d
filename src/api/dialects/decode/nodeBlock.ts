import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { type Members, member } from './members.js'
import { decodeQuantity } from './quantity.js'

const MAX_UINT64 = 2n ** 64n - 1n
const tags = ['latest', 'pending', 'safe', 'finalized', 'earliest']

/** A block by number or tag as a node takes it; the newest where the client names none. */
export function decodeBlockNumber(value: unknown, field: string): string {
  if (value === undefined || value === null) return 'latest'
  if (typeof value === 'string' && tags.includes(value)) return value
  return numberToHex(decodeQuantity(value, field, MAX_UINT64))
}

/** The same, or by hash (EIP-1898). */
export function decodeBlock(value: unknown, field: string): string | { readonly blockHash: Hex } {
  if (typeof value !== 'object' || value === null) return decodeBlockNumber(value, field)
  const blockHash = member(value as Members, 'blockHash')
  if (blockHash !== undefined) return { blockHash: decodeWord32(blockHash, `${field}.blockHash`) }
  return decodeBlockNumber(member(value as Members, 'blockNumber'), `${field}.blockNumber`)
}

/** The hash of a block or transaction, or a topic. */
export function decodeWord32(value: unknown, field: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value))
    throw new InvalidParamsError(field, 'must be 0x and 64 hex digits.')
  return value.toLowerCase() as Hex
}
