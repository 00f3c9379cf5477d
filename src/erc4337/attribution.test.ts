import fc from 'fast-check'
import { concatHex, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { readAttribution } from './attribution.js'

const MARKER = '80218021802180218021802180218021'
function text(value: string): string {
  return Buffer.from(value).toString('hex')
}
const app = `${text('baseapp')}0700${MARKER}`
const map = `a46161616261776570726976796172a16161a26163192105616164${text('0x12')}616da1616e8201f5`
const registry = 'bc'.repeat(20)

/** Examples of the ERC, but for the marker's place in a map. */
test.each<[name: string, suffix: string, attribution: object]>([
  ['one code', app, { schema: 'canonical', codes: ['baseapp'] }],
  [
    'two codes',
    `${text('baseapp,morpho')}0e00${MARKER}`,
    { schema: 'canonical', codes: ['baseapp', 'morpho'] },
  ],
  [
    'a registry of another chain',
    `${registry}210502${text('baseapp,morpho')}0e01${MARKER}`,
    { schema: 'custom', codes: ['baseapp', 'morpho'] },
  ],
  [
    'a CBOR map',
    `a16161${'67'}${text('baseapp')}000b02${MARKER}`,
    { schema: 'cbor', codes: ['baseapp'] },
  ],
  [
    'a CBOR map with registries and metadata',
    // {"a":"b","w":"privy","r":{"a":{"c":8453,"a":"0x12"}},"m":{"n":[1,true]}}
    `${map}${(map.length / 2).toString(16).padStart(4, '0')}02${MARKER}`,
    { schema: 'cbor', codes: ['b', 'privy'] },
  ],
])('reads %s', (_, suffix, attribution) => {
  expect(readAttribution(`0xb61d27f6${suffix}`)).toEqual({ attribution, rest: '0xb61d27f6' })
})

test.each<[name: string, suffix: string]>([
  ['no marker', text('baseapp')],
  ['a marker alone', MARKER],
  ['an unknown schema', `${text('baseapp')}0703${MARKER}`],
  ['more codes than there are bytes', `ff00${MARKER}`],
  ['no code', `0000${MARKER}`],
  ['an empty code', `${text('a,,b')}0400${MARKER}`],
  ['a code that is not printable', `${text('a\nb')}0300${MARKER}`],
  ['a registry that is cut off', `0502${text('a')}0101${MARKER}`],
  ['a CBOR list', `8161610003${'02'}${MARKER}`],
  ['a CBOR map of indefinite length', `bf61616162ff000602${MARKER}`],
  ['a CBOR map that ends early', `a5616161620005${'02'}${MARKER}`],
  ['maps in maps in maps', `${'a16161'.repeat(9)}a0001c02${MARKER}`],
])('does not read %s', (_, suffix) => {
  expect(readAttribution(`0x${suffix}`)).toBeUndefined()
})

test('any bytes are read in time, or not at all, and what is left is the beginning', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.integer({ min: 0, max: 3 }),
      (bytes, schema) => {
        const head: Hex = `0x${Buffer.from(bytes).toString('hex')}`
        const data = concatHex([head, `0x0${schema}${MARKER}`])
        const read = readAttribution(data)
        expect(data.startsWith(read?.rest ?? '0x')).toBe(true)
      },
    ),
    { numRuns: 2_000 },
  )
})
