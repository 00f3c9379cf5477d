import type { Address, Hex } from 'viem'
import { size, sliceHex } from 'viem/utils'
import { decodeParameters } from '../../encoding/decodeParameters.js'
import { type DecodedCall, plainCall, type ReadCalls } from './call.js'

const operationCall = [
  { type: 'address' },
  { type: 'uint256' },
  { type: 'bytes' },
  { type: 'uint8' },
] as const

/** Calls in the form (to, value, data, operation), of the Safe's 4337 module and of Kernel v2. */
export const readWithOperation: ReadCalls = (args) => {
  const decoded = decodeParameters(operationCall, args)
  if (decoded === undefined) return undefined
  const [to, value, data, operation] = decoded
  const call = plainCall(to, value, data)
  if (operation === 0) return [call]
  if (operation !== 1) return undefined
  return isMultiSend(call) ? readMultiSend(call.data) : [{ ...call, delegate: true }]
}

/** MultiSend and MultiSendCallOnly of Safe 1.3.0 and 1.4.1, by which Safes batch. */
const multiSends: ReadonlySet<Address> = new Set([
  '0xa238cbeb142c10ef7ad8442c6d1f9e89e07e7761',
  '0x40a2accbd92bca938b02010e17a5b8929b49130d',
  '0x38869bf66a61cf6bdb996a6ae40d5853fd43b526',
  '0x9641d764fc13c8b624c04430c7356c1c7c8102e2',
])

/** multiSend(bytes) */
const MULTI_SEND_SELECTOR = '0x8d80ff0a'

function isMultiSend({ to, data }: DecodedCall): boolean {
  return multiSends.has(to) && data.startsWith(MULTI_SEND_SELECTOR)
}

const HEAD_LENGTH = 1 + 20 + 32 + 32

/**
 * The calls that a MultiSend packs one after the other: operation, to, value, length of data, data.
 */
function readMultiSend(data: Hex): readonly DecodedCall[] | undefined {
  if (size(data) === 4) return undefined
  const [packed] = decodeParameters([{ type: 'bytes' }], sliceHex(data, 4)) ?? []
  if (packed === undefined) return undefined
  const calls: DecodedCall[] = []
  const end = size(packed)
  for (let at = 0; at < end; ) {
    if (at + HEAD_LENGTH > end) return undefined
    const operation = BigInt(sliceHex(packed, at, at + 1))
    const length = BigInt(sliceHex(packed, at + 53, at + 85))
    const next = BigInt(at + HEAD_LENGTH) + length
    if (operation > 1n || next > BigInt(end)) return undefined
    const inner = length === 0n ? '0x' : sliceHex(packed, at + HEAD_LENGTH, Number(next))
    const to = sliceHex(packed, at + 1, at + 21)
    const call = plainCall(to, BigInt(sliceHex(packed, at + 21, at + 53)), inner)
    calls.push({ ...call, delegate: operation === 1n })
    at = Number(next)
  }
  return calls
}
