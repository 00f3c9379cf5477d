import { expect, test } from 'vitest'
import { parseJson } from './readBody.js'

function parse(text: string) {
  return parseJson(Buffer.from(text), 4)
}

test('reads JSON up to the depth and refuses deeper', () => {
  expect(parse('[[[[1]]]]')).toEqual([[[[1]]]])
  expect(() => parse('[[[[[]]]]]')).toThrow('nested deeper than 4 levels')
  expect(() => parse('{"a":{"a":{"a":{"a":{}}}}}')).toThrow('nested deeper than 4 levels')
})

test('a million brackets are refused without running out of stack', () => {
  expect(() => parse('['.repeat(500_000) + ']'.repeat(500_000))).toThrow('nested deeper')
  expect(() => parse('['.repeat(1_000_000))).toThrow('nested deeper')
})

test('more values than any request has are refused before they are made', () => {
  expect(parse(`[${'0,'.repeat(49_990)}0]`)).toHaveLength(49_991)
  expect(() => parse(`[${'0,'.repeat(50_000)}0]`)).toThrow('more than 50000 values')
  expect(() => parse(`[${'[],'.repeat(25_000)}0]`)).toThrow('more than 50000 values')
})

test('commas and brackets in texts are no values, whatever is escaped in them', () => {
  const text = `[[[["${'[{,'.repeat(60_000)}\\\\"]]]]`
  expect(parse(text)).toHaveLength(1)
  expect(parse('["\\\\\\"[[[[[[", "\\\\\\\\"]')).toHaveLength(2)
})

test.each([[''], ['{'], ['{"a":1,}'], ["{'a':1}"], ['NaN'], ['1 2'], ['undefined']])(
  '%s is no JSON',
  (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: -32700, status: 400 }))
  },
)

test('bytes that are not UTF-8 are no JSON', () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc3, 0x28, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
  ])
    expect(() => parseJson(Uint8Array.from(bytes), 4)).toThrow('not valid JSON')
})

test('__proto__ stays an own member and reaches no prototype', () => {
  const parsed = parse('{"__proto__":{"polluted":true}}') as object
  expect(Object.keys(parsed)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})
