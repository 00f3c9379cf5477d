import type { Address, Hex } from 'viem'
import { type AbiReader, readAbi } from '../encoding/abiReader.js'
import { addressWord, encodeTuple, encodeTuples } from '../encoding/abiWriter.js'
import type { Operation } from '../operation.js'

/** Encoding and decoding of one version's operation struct. */
export type OperationCodec = {
  /** Selector of handleOps with this struct. */
  readonly selector: Hex
  readonly encode: (op: Operation) => string
  readonly read: (reader: AbiReader, at: number) => Operation
}

/** Calldata of `handleOps(ops, beneficiary)`. */
export function encodeHandleOps(
  codec: OperationCodec,
  ops: readonly Operation[],
  beneficiary: Address,
): Hex {
  const array = encodeTuples(ops.map(codec.encode))
  return `${codec.selector}${encodeTuple([{ encoded: array }, addressWord(beneficiary)])}`
}

/** ABI encoding of one operation alone, as long as its part in a handleOps call. */
export function encodeOperationTuple(codec: OperationCodec, op: Operation): Hex {
  return `0x${encodeTuple([{ encoded: codec.encode(op) }])}`
}

/** The operations in `input`, from any encoder; undefined when it is no such call. */
export function decodeHandleOps(
  codec: OperationCodec,
  input: Hex,
): readonly Operation[] | undefined {
  return readAbi(input, codec.selector, (reader) => {
    reader.address(32)
    const array = reader.number(0)
    const length = reader.number(array)
    const ops: Operation[] = []
    for (let index = 0; index < length; index++) {
      const start = array + 32
      ops.push(codec.read(reader, start + reader.number(start + index * 32)))
    }
    return ops
  })
}
