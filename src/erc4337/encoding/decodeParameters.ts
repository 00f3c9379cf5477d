import type { AbiParameter, Hex } from 'viem'
import type { DecodeAbiParametersReturnType } from 'viem/utils'
import { type AbiReader, malformed, readAbi } from './abiReader.js'

/** A parameter with the bytes that it takes in the head of its tuple or array. */
type Layout = {
  readonly dynamic: boolean
  /** 32 for a dynamic parameter, whose head is an offset */
  readonly headSize: number
  readonly read: (input: Input, at: number) => unknown
}

/** Encoded arguments and the parts of them that have been read. */
type Input = {
  readonly reader: AbiReader
  readonly claim: (start: number, end: number) => void
}

/**
 * The arguments in `data` (ABI encoded, without selector), which anybody may have written, in the types
 * that viem gives them, addresses in lower case. Undefined when `data` is not such arguments. No byte is
 * read as part of two values, so time and result are bounded by the length of `data`: Solidity accepts
 * offsets that overlap, but no encoder writes them. Bits outside a type's range are refused, as
 * Solidity does.
 */
export function decodeParameters<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
): DecodeAbiParametersReturnType<Parameters> | undefined {
  return readAbi(data, '0x', (reader) => {
    const layouts = parameters.map(layoutOf)
    const parts = createParts((data.length - 2) / 2)
    const head = sum(layouts)
    parts.claim(0, head)
    const values: unknown = readMembers(layouts, { reader, claim: parts.claim }, 0)
    parts.requireDisjoint()
    return values as DecodeAbiParametersReturnType<Parameters>
  })
}

/**
 * `decodeParameters` of `data` that is the one encoding which the ABI prescribes: each value follows the one before
 * it, padding is zero, nothing follows the last. So a decoder, however loose, reads the same values.
 */
export function decodeCanonical<const Parameters extends readonly AbiParameter[]>(
  parameters: Parameters,
  data: Hex,
): DecodeAbiParametersReturnType<Parameters> | undefined {
  return readAbi(data, '0x', (reader) => {
    const layouts = parameters.map(layoutOf)
    let next = 0
    const claim = (start: number, end: number) => {
      if (start !== next) malformed()
      next = Math.ceil(end / 32) * 32
      if (!/^0x0*$/.test(reader.slice(end, next - end))) malformed()
    }
    claim(0, sum(layouts))
    const values: unknown = readMembers(layouts, { reader, claim }, 0)
    if (next !== (data.length - 2) / 2) malformed()
    return values as DecodeAbiParametersReturnType<Parameters>
  })
}

/** The parts of `size` bytes that were read as values. */
function createParts(size: number) {
  const parts: { readonly start: number; readonly end: number }[] = []
  let left = size
  return {
    claim: (start: number, end: number) => {
      left -= end - start
      if (end > size || left < 0) malformed()
      parts.push({ start, end })
    },
    requireDisjoint: () => {
      parts.sort((a, b) => a.start - b.start)
      for (const [index, { end }] of parts.entries()) {
        const next = parts[index + 1]
        if (next !== undefined && next.start < end) malformed()
      }
    },
  }
}

function layoutOf(parameter: AbiParameter): Layout {
  const { type } = parameter
  const array = /^(.*)\[(\d*)\]$/.exec(type)
  if (array) {
    const member = layoutOf({ ...parameter, type: array[1] ?? '' })
    return array[2] === '' ? listLayout(member) : fixedLayout(member, Number(array[2]))
  }
  if ('components' in parameter) return tupleLayout(parameter.components)
  if (type === 'bytes') return { dynamic: true, headSize: 32, read: readBytes }
  if (type === 'string') {
    const read = (input: Input, at: number) =>
      Buffer.from(readBytes(input, at).slice(2), 'hex').toString('utf8')
    return { dynamic: true, headSize: 32, read }
  }
  return { dynamic: false, headSize: 32, read: wordReader(type) }
}

/** `T[]` */
function listLayout(member: Layout): Layout {
  const read = (input: Input, at: number) => {
    const length = input.reader.number(at)
    input.claim(at, at + 32 + length * member.headSize)
    return readMembers(repeat(member, length), input, at + 32)
  }
  return { dynamic: true, headSize: 32, read }
}

/** `T[length]` */
function fixedLayout(member: Layout, length: number): Layout {
  const size = length * member.headSize
  if (length === 0 || !Number.isSafeInteger(size)) malformed()
  const read = (input: Input, at: number) => {
    if (member.dynamic) input.claim(at, at + size)
    return readMembers(repeat(member, length), input, at)
  }
  return { dynamic: member.dynamic, headSize: member.dynamic ? 32 : size, read }
}

function tupleLayout(components: readonly AbiParameter[]): Layout {
  if (components.length === 0) malformed()
  const members = components.map(layoutOf)
  const dynamic = members.some((member) => member.dynamic)
  const size = sum(members)
  const isNamed = components.every(({ name }) => name)
  const read = (input: Input, at: number) => {
    if (dynamic) input.claim(at, at + size)
    const values = readMembers(members, input, at)
    if (!isNamed) return values
    return Object.fromEntries(components.map(({ name = '' }, index) => [name, values[index]]))
  }
  return { dynamic, headSize: dynamic ? 32 : size, read }
}

/** The values whose heads stand one after the other from byte `base`, from which offsets count. */
function readMembers(members: Iterable<Layout>, input: Input, base: number): unknown[] {
  const values: unknown[] = []
  let at = base
  for (const { dynamic, headSize, read } of members) {
    values.push(read(input, dynamic ? base + input.reader.number(at) : at))
    at += headSize
  }
  return values
}

function* repeat(member: Layout, times: number): Iterable<Layout> {
  for (let index = 0; index < times; index++) yield member
}

function readBytes({ reader, claim }: Input, at: number): Hex {
  const length = reader.number(at)
  claim(at, at + 32 + length)
  return reader.slice(at + 32, length)
}

const uintType = /^uint(\d*)$/
const intType = /^int(\d*)$/
const fixedBytesType = /^bytes(\d+)$/

/** A reader of a type that takes one word. */
function wordReader(type: string): Layout['read'] {
  if (type === 'address') return ({ reader }, at) => reader.address(at)
  if (type === 'bool') return ({ reader }, at) => reader.boolean(at)
  const bits = uintType.exec(type)?.[1]
  if (bits !== undefined)
    return ({ reader }, at) => integer(reader.uint(at), Number(bits || 256), BigInt.asUintN)
  const signed = intType.exec(type)?.[1]
  if (signed !== undefined)
    return ({ reader }, at) =>
      integer(BigInt.asIntN(256, reader.uint(at)), Number(signed || 256), BigInt.asIntN)
  const length = Number(fixedBytesType.exec(type)?.[1] ?? malformed())
  return ({ reader }, at) => {
    const word = reader.word(at)
    return /^0*$/.test(word.slice(length * 2)) ? `0x${word.slice(0, length * 2)}` : malformed()
  }
}

/** viem's type of an integer: a number up to 48 bits, else a bigint. */
function integer(
  value: bigint,
  bits: number,
  wrap: (bits: number, value: bigint) => bigint,
): number | bigint {
  if (wrap(bits, value) !== value) return malformed()
  return bits <= 48 ? Number(value) : value
}

function sum(members: readonly Layout[]): number {
  return members.reduce((size, { headSize }) => size + headSize, 0)
}
