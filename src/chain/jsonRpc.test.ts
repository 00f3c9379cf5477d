import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeAnswers, encodeCalls } from './jsonRpc.js'

function answer(id: number) {
  return { jsonrpc: '2.0', id, result: `r${id}` }
}

describe('encodeCalls', () => {
  test('one call is a single request, several are a batch', () => {
    expect(JSON.parse(encodeCalls([{ method: 'a', params: [1] }]))).toEqual({
      jsonrpc: '2.0',
      id: 0,
      method: 'a',
      params: [1],
    })
    const two = encodeCalls([
      { method: 'a', params: [] },
      { method: 'b', params: [] },
    ])
    expect(JSON.parse(two)).toHaveLength(2)
  })
})

describe('decodeAnswers', () => {
  test('answers of a batch come back in the order of the calls, whatever order they arrive in', () => {
    const shuffled = fc
      .integer({ min: 2, max: 20 })
      .chain((count) =>
        fc.shuffledSubarray([...Array(count).keys()], { minLength: count, maxLength: count }),
      )
    fc.assert(
      fc.property(shuffled, (ids) => {
        const settled = decodeAnswers(JSON.stringify(ids.map(answer)), ids.length)
        expect(settled?.map((item) => item.ok && item.result)).toEqual(
          [...ids.keys()].map((id) => `r${id}`),
        )
      }),
    )
  })

  test.each([
    ['not JSON', '<html>'],
    ['JSON that is no answer', '{"hello":1}'],
    ['null', 'null'],
    ['a list with null', '[null,null]'],
    ['a missing answer', JSON.stringify([answer(0)])],
    ['a doubled answer', JSON.stringify([answer(0), answer(0)])],
    ['one result for two calls', JSON.stringify(answer(0))],
  ])('%s is no answer to two calls', (_, text) => {
    expect(decodeAnswers(text, 2)).toBeUndefined()
  })

  test('an answer with another id is no answer', () => {
    expect(decodeAnswers(JSON.stringify(answer(7)), 1)).toBeUndefined()
  })

  test('a lone error answers every call of a batch', () => {
    const text = JSON.stringify({ id: null, error: { code: -32005, message: 'too many' } })
    const settled = decodeAnswers(text, 2)
    expect(settled).toHaveLength(2)
    for (const item of settled ?? []) expect(!item.ok && item.error.code).toBe(-32005)
  })

  test('a null result is a result', () => {
    expect(decodeAnswers('{"id":0,"result":null}', 1)).toEqual([{ ok: true, result: null }])
  })
})
