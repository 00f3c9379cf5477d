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
