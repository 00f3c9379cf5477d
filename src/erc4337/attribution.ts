import type { Hex } from 'viem'
import { attributionSchemas } from '../base/vocabulary.js'

/** The codes of the apps and wallets that a data suffix of ERC-8021 names. */
export type Attribution = {
  readonly schema: (typeof attributionSchemas)[number]
  readonly codes: readonly string[]
}

/** Bytes that end every suffix. */
const MARKER = '80218021802180218021802180218021'

const MOST_CODES = 16

/**
 * The suffix at the end of an operation's call data and the call data before it, as ERC-8021 reads them; undefined
 * where there is none, or one that cannot be read. The sender writes the codes: they prove nothing.
 */
export function readAttribution(
  callData: Hex,
): { readonly attribution: Attribution; readonly rest: Hex } | undefined {
  if (!callData.endsWith(MARKER)) return undefined
  const bytes = Buffer.from(callData.slice(2, -MARKER.length), 'hex')
  let end = bytes.length
  const take = (length: number) => {
    end -= length
    return end < 0 ? undefined : bytes.subarray(end, end + length)
  }
  const schema = attributionSchemas[take(1)?.[0] ?? -1]
  if (schema === undefined) return undefined
  const data = take(schema === 'cbor' ? (take(2)?.readUInt16BE() ?? 0) : (take(1)?.[0] ?? 0))
  const names = schema === 'cbor' ? data && codesInCbor(data) : data?.toString('latin1').split(',')
  if (schema === 'custom') take((take(1)?.[0] ?? 0) + 20)
  if (end < 0 || names === undefined || names.length > MOST_CODES) return undefined
  if (!names.every((code) => /^[\x21-\x2b\x2d-\x7e]{1,64}$/.test(code))) return undefined
  return {
    attribution: { schema, codes: names },
    rest: `0x${bytes.toString('hex', 0, end)}`,
  }
}

/** The codes of app (`a`) and wallet (`w`) in a CBOR map (RFC 8949); undefined = it is no such map. */
function codesInCbor(data: Buffer): readonly string[] | undefined {
  try {
    const { value, end } = readCbor(data, 0, 0)
    if (!(value instanceof Map) || end !== data.length) return undefined
    const codes = ['a', 'w'].flatMap((key) => value.get(key) ?? [])
    return codes.every((code) => typeof code === 'string') ? codes : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const MOST_NESTED = 4

/** The item of CBOR at byte `at`, of definite length and without tags; throws RangeError for others. */
function readCbor(data: Buffer, at: number, depth: number): { value: unknown; end: number } {
  const head = data.readUInt8(at)
  const [type, info] = [head >> 5, head & 31]
  if (info > 26) throw new RangeError('indefinite, or beyond 32 bits')
  const width = info < 24 ? 0 : 2 ** (info - 24)
  const size = width === 0 ? info : data.readUIntBE(at + 1, width)
  let end = at + 1 + width
  if (type <= 1 || type === 7) return { value: size, end }
  if (type <= 3) {
    if (end + size > data.length) throw new RangeError('the text ends early')
    return { value: data.toString('utf8', end, end + size), end: end + size }
  }
  if (type > 5 || depth === MOST_NESTED) throw new RangeError('a tag, or nested too deep')
  const items: unknown[] = []
  for (let left = type === 5 ? 2 * size : size; left > 0; left--) {
    const item = readCbor(data, end, depth + 1)
    items.push(item.value)
    end = item.end
  }
  if (type === 4) return { value: items, end }
  const entries = Array.from({ length: size }, (_, place) => items.slice(2 * place, 2 * place + 2))
  return { value: new Map(entries as [unknown, unknown][]), end }
}
