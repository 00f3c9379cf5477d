import type { Address, Hex } from 'viem'
import { numberToHex, parseTransaction } from 'viem/utils'
import { z } from 'zod'
import { smallest } from '../../../base/bigints.js'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import {
  address,
  bytes,
  decodeObject,
  decodeQuantity,
  type Input,
  jsonOf,
  listOf,
  MAX_CODE_BYTES,
  type Members,
  member,
  optional,
  quantity,
  word,
} from './values.js'

const MAX_UINT64 = 2n ** 64n - 1n
const tags: readonly string[] = ['latest', 'pending', 'safe', 'finalized', 'earliest']

/** A block by number or tag as a node takes it; the newest where the client names none. */
export const blockNumber: Input<string> = {
  json: z
    .union([z.enum(tags), z.string().regex(/^0[xX][0-9a-fA-F]{1,16}$/), z.int().min(0)])
    .meta({ id: 'BlockNumber' }),
  decode: (value, field) => {
    if (value === undefined || value === null) return 'latest'
    if (typeof value === 'string' && tags.includes(value)) return value
    return numberToHex(decodeQuantity(value, field, MAX_UINT64))
  },
}

/** The same, or by hash (EIP-1898). */
export const block: Input<string | { readonly blockHash: Hex }> = {
  json: z
    .union([blockNumber.json, z.looseObject({ blockHash: word.json })])
    .nullable()
    .optional(),
  decode: (value, field, chain) => {
    if (typeof value !== 'object' || value === null) return blockNumber.decode(value, field, chain)
    const blockHash = member(value as Members, 'blockHash')
    if (blockHash !== undefined)
      return { blockHash: word.decode(blockHash, `${field}.blockHash`, chain) }
    const number = member(value as Members, 'blockNumber')
    return blockNumber.decode(number, `${field}.blockNumber`, chain)
  },
}

/** Bytes of a signed transaction at most: nodes take no more. */
const MAX_TRANSACTION_BYTES = 128 * 1024
const transactionBytes = bytes(MAX_TRANSACTION_BYTES)

/** A signed transaction without blobs. */
export const signedTransaction: Input<Hex> = {
  json: transactionBytes.json,
  decode: (value, field, chain) => {
    const raw = transactionBytes.decode(value, field, chain)
    if (isSigned(raw)) return raw
    throw new InvalidParamsError(field, 'must be a signed transaction without blobs.')
  },
}

function isSigned(raw: Hex): boolean {
  try {
    const { r, type } = parseTransaction(raw)
    return r !== undefined && type !== 'eip4844'
  } catch {
    return false
  }
}

/** Gas of a call: the most that any transaction may have (EIP-7825). */
const MAX_CALL_GAS = 16_777_216n

const hexQuantity: Input<Hex> = {
  json: quantity.json,
  decode: (value, field) => numberToHex(decodeQuantity(value, field)),
}
const callMembers = {
  from: address,
  to: address,
  data: bytes(MAX_CODE_BYTES),
  input: bytes(MAX_CODE_BYTES),
  gas: quantity,
  value: hexQuantity,
  gasPrice: hexQuantity,
  maxFeePerGas: hexQuantity,
  maxPriorityFeePerGas: hexQuantity,
}
/** The last three are put into every call by libraries and change nothing in it. */
const known = [...Object.keys(callMembers), 'nonce', 'type', 'chainId']

/**
 * The transaction of eth_call as a node takes it, its gas at most MAX_CALL_GAS. A member that would not be
 * applied is refused rather than ignored: an answer to another call than the one that was asked misleads.
 */
export const nodeCall: Input<Members> = {
  json: z.strictObject(jsonOf(callMembers)).partial(),
  decode: (value, field, chain) => {
    const call = decodeObject(value, field)
    const unknown = Object.keys(call).find(
      (name) => !known.includes(name) && !isEmpty(member(call, name)),
    )
    if (unknown !== undefined)
      throw new InvalidParamsError(
        field,
        `cannot have ${JSON.stringify(unknown.slice(0, 40))}, only ${known.join(', ')}.`,
      )
    const present = Object.entries(callMembers).filter(([name]) => member(call, name) !== undefined)
    const {
      input,
      data = input ?? '0x',
      gas = MAX_CALL_GAS,
      ...others
    } = Object.fromEntries(
      present.map(([name, { decode }]) => [name, decode(call[name], `${field}.${name}`, chain)]),
    )
    return { ...others, data, gas: numberToHex(smallest(gas as bigint, MAX_CALL_GAS)) }
  },
}

/** Libraries send an access list that is empty. */
function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}

const MAX_ADDRESSES = 20
const MAX_TOPICS = 4
const MAX_ALTERNATIVES = 20

/** A filter of eth_getLogs that names its contracts; the range is bounded once the head is known. */
type ClientLogFilter = {
  readonly address: Address | readonly Address[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
} & ({ readonly blockHash: Hex } | { readonly fromBlock: string; readonly toBlock: string })

const addresses = listOf(address, MAX_ADDRESSES)
const topics = listOf(word, MAX_ALTERNATIVES)
const topic: Input<Hex | readonly Hex[] | null> = {
  json: z.union([z.null(), word.json, topics.json]),
  decode: (value, field, chain) =>
    value === null ? null : (Array.isArray(value) ? topics : word).decode(value, field, chain),
}

/** Without an address a node reads all logs of each block: such a filter is refused. */
export const logFilter: Input<ClientLogFilter> = {
  json: z.looseObject({
    address: z.union([address.json, z.array(address.json).min(1).max(MAX_ADDRESSES)]),
    topics: z.array(topic.json).max(MAX_TOPICS).optional(),
    fromBlock: blockNumber.json.nullable().optional(),
    toBlock: blockNumber.json.nullable().optional(),
    blockHash: word.json.optional(),
  }),
  decode: (value, field, chain) => {
    const filter = decodeObject(value, field)
    const named = member(filter, 'address')
    const blockHash = member(filter, 'blockHash')
    const read = <Value>(name: string, { decode }: Input<Value>): Value =>
      decode(member(filter, name), `${field}.${name}`, chain)
    if (Array.isArray(named) && named.length === 0)
      throw new InvalidParamsError(`${field}.address`, 'must name a contract.')
    const filtered = {
      address: Array.isArray(named) ? read('address', addresses) : read('address', address),
      topics: read('topics', optional(listOf(topic, MAX_TOPICS), [])),
    }
    return blockHash === undefined
      ? {
          ...filtered,
          fromBlock: read('fromBlock', blockNumber),
          toBlock: read('toBlock', blockNumber),
        }
      : { ...filtered, blockHash: read('blockHash', word) }
  },
}

/**
 * The filter with numbers for its blocks, at most `logRange` of them. `head` is the newest block that we
 * know; whatever lies beyond it does not exist yet. Throws InvalidParamsError.
 */
export function boundLogFilter(
  filter: ClientLogFilter,
  { head, logRange }: { readonly head: bigint; readonly logRange: number },
): ClientLogFilter {
  if ('blockHash' in filter) return filter
  const from = numberOf(filter.fromBlock, head)
  const to = numberOf(filter.toBlock, head)
  if (to - from >= BigInt(logRange))
    throw new InvalidParamsError(
      'params[0]',
      `spans ${to - from + 1n} blocks, at most ${logRange} are read at once.`,
    )
  return { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
}

function numberOf(block: string, head: bigint): bigint {
  if (block === 'earliest') return 0n
  if (block === 'latest' || block === 'pending') return head
  if (block.startsWith('0x')) return BigInt(block)
  throw new InvalidParamsError('params[0]', `cannot name a block "${block}": use its number.`)
}
