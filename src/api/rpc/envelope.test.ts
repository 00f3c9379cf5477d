import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PurserError } from '../../base/errors/purserError.js'
import { InvalidRequestError } from '../../base/errors/requestErrors.js'
import { decodeCall, errorBody, idOf } from './envelope.js'

const valid = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }

describe('decodeCall', () => {
  test.each([['2.0'], ['2.0.0'], [undefined], [null]])('takes jsonrpc %s', (jsonrpc) => {
    expect(decodeCall({ ...valid, jsonrpc })).toEqual({ id: 1, method: 'eth_chainId', params: [] })
  })

  test.each([['text'], [''], [0], [1.5], [1_700_000_000_000], [null]])('keeps id %s', (id) => {
    expect(decodeCall({ ...valid, id }).id).toBe(id)
  })

  test('a call without id is a notification, and params may be left away', () => {
    expect(decodeCall({ method: 'm' })).toEqual({ id: undefined, method: 'm', params: [] })
  })

  test.each([
    ['a number', 5],
    ['null', null],
    ['an array', []],
    ['a text', 'x'],
    ['jsonrpc 1.0', { ...valid, jsonrpc: '1.0' }],
    ['jsonrpc as a number', { ...valid, jsonrpc: 2 }],
    ['an object as id', { ...valid, id: {} }],
    ['a boolean as id', { ...valid, id: true }],
    ['no method', { ...valid, method: undefined }],
    ['an empty method', { ...valid, method: '' }],
    ['a number as method', { ...valid, method: 1 }],
    ['text as params', { ...valid, params: 'x' }],
    ['null as params', { ...valid, params: null }],
  ])('%s is an invalid request', (_, value) => {
    expect(() => decodeCall(value)).toThrow(expect.objectContaining({ code: -32600 }))
  })

  test('named parameters are invalid parameters', () => {
    expect(() => decodeCall({ ...valid, params: { a: 1 } })).toThrow(
      expect.objectContaining({ code: -32602, data: { field: 'params' } }),
    )
  })

  test('throws nothing but our own refusals, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          expect(decodeCall(value).method).not.toBe('')
        } catch (error) {
          expect(error).toBeInstanceOf(PurserError)
        }
      }),
    )
  })
})

test('an error carries the id where it is usable, else null', () => {
  expect(idOf({ id: 'a' })).toBe('a')
  expect(idOf({ id: 0 })).toBe(0)
  for (const value of [{ id: {} }, {}, [], null, 5, JSON.parse('{"__proto__":{"id":1}}')])
    expect(idOf(value)).toBeNull()
})

test('no hash or address in a message reads as a code of the EntryPoint that it does not have', () => {
  const [hash, misleading] = [
    `0x${'a2'.repeat(32)}`,
    `0x12${'0'.repeat(50)}Aa25${'0'.repeat(5)}abc`,
  ]
  const messageOf = (message: string) =>
    JSON.parse(errorBody(1, new InvalidRequestError(message))).error.message
  expect(messageOf(`AA24 signature error: ${hash}`)).toContain(`AA24 signature error: ${hash}`)
  expect(messageOf(`AA24 signature error: ${misleading} on`)).toContain(
    'AA24 signature error: 0x120…abc on',
  )
})
