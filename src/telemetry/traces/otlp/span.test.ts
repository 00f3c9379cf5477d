import { expect, test } from 'vitest'
import { parseTraceParent } from './span.js'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

test.each([
  [`00-${trace}-${span}-01`, 1],
  [`00-${trace}-${span}-00`, 0],
  [`cc-${trace}-${span}-03-what-a-later-version-adds`, 3],
])('%s names a span of the caller', (header, flags) => {
  expect(parseTraceParent(header)).toEqual({ traceId: trace, spanId: span, flags })
})

test.each([
  [undefined],
  [''],
  [trace],
  [`ff-${trace}-${span}-01`],
  [`00-${trace}-${span}-01-more`],
  [`00-${trace}-${span}-01more`],
  [`00-${trace}-${span}-1`],
  [`00-${trace.toUpperCase()}-${span}-01`],
  [`00-${'0'.repeat(32)}-${span}-01`],
  [`00-${trace}-${'0'.repeat(16)}-01`],
  [`00-${trace}-${span}-01, 00-${trace}-${span}-01`],
  [` 00-${trace}-${span}-01`],
  ['x'.repeat(16_000)],
])('%s is no traceparent', (header) => {
  expect(parseTraceParent(header)).toBeUndefined()
})
