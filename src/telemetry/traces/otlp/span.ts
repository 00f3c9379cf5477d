import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { traceIdOf } from '../../../base/traceId.js'

/** A step of an operation's way; times are Unix milliseconds. */
export type Span = {
  readonly userOpHash: Hex
  /** `way` is the whole way, above all other spans of the operation. */
  readonly name: 'way' | 'sponsor' | 'admit' | 'pool' | 'bundle' | 'inclusion'
  readonly begin: number
  readonly end: number
  readonly attributes: Readonly<Record<string, string | number | bigint | null>>
  /** The span of the caller whose request this step answered. */
  readonly caller?: TraceParent | undefined
  /** The code of a failure. */
  readonly failure?: string | undefined
}

const INTERNAL = 1
const ERROR = 2

/** The id of the span of the whole way: all processes know it from the operation's hash. */
function wayIdOf(userOpHash: Hex): string {
  return userOpHash.slice(34, 50)
}

/** A span in the JSON form of OTLP. */
export function encodeSpan({ userOpHash, name, begin, end, attributes, caller, failure }: Span) {
  const isWay = name === 'way'
  return {
    traceId: traceIdOf(userOpHash),
    spanId: isWay ? wayIdOf(userOpHash) : randomBytes(8).toString('hex'),
    ...(isWay ? {} : { parentSpanId: wayIdOf(userOpHash) }),
    name: isWay ? 'operation' : name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(begin),
    endTimeUnixNano: nanoseconds(end),
    attributes: encodeAttributes({ 'purser.operation': userOpHash, ...attributes }),
    ...(caller === undefined ? {} : { links: [caller] }),
    ...(failure === undefined ? {} : { status: { code: ERROR, message: failure } }),
  }
}

function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n)
}

export function encodeAttributes(attributes: Span['attributes']) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [{ key, value: encodeValue(value) }],
  )
}

/** wei may be greater than what a number of 64 bits holds, so a bigint is text. */
function encodeValue(value: string | number | bigint) {
  return typeof value === 'number' ? { intValue: String(value) } : { stringValue: String(value) }
}

/** The span of a caller, as it names it (W3C Trace Context). */
export type TraceParent = {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Eight bits; the lowest says that the caller keeps its trace. */
  readonly flags: number
}

/** Version, trace, span and flags; a version after 00 may have more behind them. */
const form = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Reads the header `traceparent`. @returns undefined for a header that is not of the W3C's form: it counts as absent */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header ?? '') ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}
