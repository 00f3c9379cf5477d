import type { Address, Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeAddress } from './bytes.js'
import { decodeBoundedList } from './list.js'
import { decodeObject, member, memberOrNull } from './members.js'
import { decodeBlockNumber, decodeWord32 } from './nodeBlock.js'

const MAX_ADDRESSES = 20
const MAX_TOPICS = 4
const MAX_ALTERNATIVES = 20

/** A filter of eth_getLogs that names its contracts; the range is bounded once the head is known. */
export type ClientLogFilter = {
  readonly address: Address | readonly Address[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
} & ({ readonly blockHash: Hex } | { readonly fromBlock: string; readonly toBlock: string })

/** Without an address a node reads all logs of each block: such a filter is refused. */
export function decodeLogFilter(value: unknown, field: string): ClientLogFilter {
  const filter = decodeObject(value, field)
  const address = member(filter, 'address')
  const blockHash = member(filter, 'blockHash')
  const filtered = {
    address: Array.isArray(address)
      ? decodeAddresses(address, `${field}.address`)
      : decodeAddress(address, `${field}.address`),
    topics: decodeBoundedList(
      member(filter, 'topics') ?? [],
      `${field}.topics`,
      MAX_TOPICS,
      decodeTopic,
    ),
  }
  if (blockHash !== undefined)
    return { ...filtered, blockHash: decodeWord32(blockHash, `${field}.blockHash`) }
  const block = (name: string) => decodeBlockNumber(memberOrNull(filter, name), `${field}.${name}`)
  return { ...filtered, fromBlock: block('fromBlock'), toBlock: block('toBlock') }
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
  const from = blockNumber(filter.fromBlock, head)
  const to = blockNumber(filter.toBlock, head)
  if (to - from >= BigInt(logRange))
    throw new InvalidParamsError(
      'params[0]',
      `spans ${to - from + 1n} blocks, at most ${logRange} are read at once.`,
    )
  return { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
}

function blockNumber(block: string, head: bigint): bigint {
  if (block === 'earliest') return 0n
  if (block === 'latest' || block === 'pending') return head
  if (block.startsWith('0x')) return BigInt(block)
  throw new InvalidParamsError('params[0]', `cannot name a block "${block}": use its number.`)
}

function decodeAddresses(value: unknown, field: string): readonly Address[] {
  const addresses = decodeBoundedList(value, field, MAX_ADDRESSES, decodeAddress)
  if (addresses.length === 0) throw new InvalidParamsError(field, 'must name a contract.')
  return addresses
}

function decodeTopic(value: unknown, field: string): Hex | readonly Hex[] | null {
  if (value === null) return null
  return Array.isArray(value)
    ? decodeBoundedList(value, field, MAX_ALTERNATIVES, decodeWord32)
    : decodeWord32(value, field)
}
