import type { Hex } from 'viem'
import { size, sliceHex } from 'viem/utils'
import { decodeParameters } from '../../encoding/decodeParameters.js'
import { type DecodedCall, plainCall, type ReadCalls } from './call.js'
import { callStructs } from './executeCalls.js'

/**
 * Calls in execute(bytes32 mode, bytes executionCalldata) of ERC-7579 (Nexus, Kernel v3, Safe7579).
 * The mode holds call type, exec type (revert or try), four unused bytes, a selector for modes of
 * an account's own, which we cannot read, and their payload.
 */
export const readErc7579: ReadCalls = (args) => {
  const decoded = decodeParameters([{ type: 'bytes32' }, { type: 'bytes' }], args)
  if (decoded === undefined) return undefined
  const [mode, execution] = decoded
  const known = BigInt(sliceHex(mode, 1, 2)) <= 1n && BigInt(sliceHex(mode, 2, 10)) === 0n
  if (!known) return undefined
  switch (sliceHex(mode, 0, 1)) {
    case '0x00':
      return readSingle(execution)
    case '0x01':
      return readBatch(execution)
    case '0xff':
      return readDelegate(execution)
    default:
      return undefined
  }
}

function readSingle(execution: Hex): readonly DecodedCall[] | undefined {
  if (size(execution) < 52) return undefined
  const value = BigInt(sliceHex(execution, 20, 52))
  return [plainCall(sliceHex(execution, 0, 20), value, rest(execution, 52))]
}

function readBatch(execution: Hex): readonly DecodedCall[] | undefined {
  const [calls] = decodeParameters(callStructs, execution) ?? []
  return calls?.map(({ to, value, data }) => plainCall(to, value, data))
}

function readDelegate(execution: Hex): readonly DecodedCall[] | undefined {
  return size(execution) < 20
    ? undefined
    : [{ ...plainCall(sliceHex(execution, 0, 20), 0n, rest(execution, 20)), delegate: true }]
}

function rest(data: Hex, from: number): Hex {
  return size(data) === from ? '0x' : sliceHex(data, from)
}
