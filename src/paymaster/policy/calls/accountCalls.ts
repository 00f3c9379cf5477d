import type { Address, Hex } from 'viem'
import { size, sliceHex } from 'viem/utils'
import { decodeCanonical } from '../../../erc4337/encoding/decodeParameters.js'
import { callStructs, type DecodedCall, plainCall, type ReadCalls, zipCalls } from './call.js'

/*
 * Forms that many accounts share: SimpleAccount of every version, Light Account, Coinbase Smart
 * Wallet, Biconomy V2 and Kernel v2.
 */

const single = [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }] as const

/** execute(address,uint256,bytes) */
export const readExecute: ReadCalls = (args) => {
  const decoded = decodeCanonical(single, args)
  return decoded && [plainCall(...decoded)]
}

/** executeBatch(address[],bytes[]), SimpleAccount v0.6: no values */
export const readBatchWithoutValues: ReadCalls = (args) => {
  const decoded = decodeCanonical([{ type: 'address[]' }, { type: 'bytes[]' }], args)
  if (decoded === undefined) return undefined
  const [targets, datas] = decoded
  const values = targets.map(() => 0n)
  return zipCalls(targets, values, datas)
}

/** executeBatch(address[],uint256[],bytes[]); SimpleAccount v0.7 takes no values as zeros */
export const readBatch: ReadCalls = (args) => {
  const decoded = decodeCanonical(
    [{ type: 'address[]' }, { type: 'uint256[]' }, { type: 'bytes[]' }],
    args,
  )
  if (decoded === undefined) return undefined
  const [targets, values, datas] = decoded
  return zipCalls(targets, values.length === 0 ? targets.map(() => 0n) : values, datas)
}

/** executeBatch((address,uint256,bytes)[]) */
export const readBatchOfStructs: ReadCalls = readStructs

/** executeDelegateCall(address,bytes), Kernel v2 */
export const readDelegateCall: ReadCalls = (args) => {
  const decoded = decodeCanonical([{ type: 'address' }, { type: 'bytes' }], args)
  if (decoded === undefined) return undefined
  const [to, data] = decoded
  return [{ ...plainCall(to, 0n, data), delegate: true }]
}

/** execute((address,uint256,bytes)), MetaMask's DeleGator */
export const readExecuteStruct: ReadCalls = (args) => {
  const [call] =
    decodeCanonical([{ type: 'tuple', components: callStructs[0].components }], args) ?? []
  return call && [plainCall(call.to, call.value, call.data)]
}

/** execute(bytes32 mode, bytes executionCalldata) of ERC-7579 (Nexus, Kernel v3 and v4, Safe7579) and ERC-7821. */
export const readModeExecute: ReadCalls = (args) => {
  const decoded = decodeCanonical([{ type: 'bytes32' }, { type: 'bytes' }], args)
  return decoded && readExecution(...decoded)
}

/**
 * The calls of an execution. The mode holds call type, exec type (revert or try), four unused bytes, a selector of
 * the standard that extends it, and a payload that nobody reads. Of the selectors we know those of ERC-7821: with
 * optional opData, and a batch of such batches. A static call (0xfe) has no encoding that ERC-7579 fixes.
 */
export function readExecution(mode: Hex, execution: Hex): readonly DecodedCall[] | undefined {
  if (BigInt(sliceHex(mode, 1, 2)) > 1n) return undefined
  switch (`${sliceHex(mode, 0, 1)}${mode.slice(6, 22)}`) {
    case `0x00${NO_SELECTOR}`:
      return readSingle(execution)
    case `0x01${NO_SELECTOR}`:
      return readStructs(execution)
    case `0x01${OP_DATA}`:
      return readWithOpData(execution)
    case `0x01${BATCHES}`:
      return readBatches(execution)
    case `0xff${NO_SELECTOR}`:
      return readDelegate(execution)
    default:
      return undefined
  }
}

/** Bytes 2 to 9 of a mode. */
const NO_SELECTOR = '0000000000000000'
const OP_DATA = '0000000078210001'
const BATCHES = '0000000078210002'

function readStructs(execution: Hex): readonly DecodedCall[] | undefined {
  const [calls] = decodeCanonical(callStructs, execution) ?? []
  return calls?.map(({ to, value, data }) => plainCall(to, value, data))
}

/** abi.encode(calls) or abi.encode(calls, opData); opData is for the account's checks and holds no calls. */
function readWithOpData(execution: Hex): readonly DecodedCall[] | undefined {
  const [calls] = decodeCanonical([...callStructs, { type: 'bytes' }], execution) ?? []
  return calls?.map(({ to, value, data }) => plainCall(to, value, data)) ?? readStructs(execution)
}

/** abi.encode(bytes[]), each of them a batch that may have opData, and none of them batches again. */
function readBatches(execution: Hex): readonly DecodedCall[] | undefined {
  const [batches] = decodeCanonical([{ type: 'bytes[]' }], execution) ?? []
  const read = batches?.map(readWithOpData)
  return read?.every((calls) => calls !== undefined) ? read.flat() : undefined
}

function readSingle(execution: Hex): readonly DecodedCall[] | undefined {
  if (size(execution) < 52) return undefined
  const value = BigInt(sliceHex(execution, 20, 52))
  return [plainCall(sliceHex(execution, 0, 20), value, rest(execution, 52))]
}

function readDelegate(execution: Hex): readonly DecodedCall[] | undefined {
  return size(execution) < 20
    ? undefined
    : [{ ...plainCall(sliceHex(execution, 0, 20), 0n, rest(execution, 20)), delegate: true }]
}

function rest(data: Hex, from: number): Hex {
  return size(data) === from ? '0x' : sliceHex(data, from)
}

const operationCall = [
  { type: 'address' },
  { type: 'uint256' },
  { type: 'bytes' },
  { type: 'uint8' },
] as const

/** Calls in the form (to, value, data, operation), of the Safe's 4337 module and of Kernel v2. */
export const readWithOperation: ReadCalls = (args) => {
  const decoded = decodeCanonical(operationCall, args)
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
  const [packed] = decodeCanonical([{ type: 'bytes' }], sliceHex(data, 4)) ?? []
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
