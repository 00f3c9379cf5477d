import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromJson, toJson } from './json.js'

test('bigints of any size come back exactly, and so does all around them', () => {
  const value = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefx') }),
      fc.array(tie('tree')),
      fc.dictionary(fc.string({ minLength: 1 }), tie('tree')).map((entries) => ({ ...entries })),
    ),
  })).tree
  fc.assert(
    fc.property(value, (input) => {
      expect(fromJson(JSON.parse(toJson(input)))).toEqual(input)
    }),
  )
})
