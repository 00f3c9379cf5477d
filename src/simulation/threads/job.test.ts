import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packPreimages, unpackPreimages } from './job.js'

const preimage = fc.record({
  input: fc.uint8Array({ minLength: 32, maxLength: 1_024 }),
  hash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
})

test('what is packed comes back in the same order', () =>
  fc.assert(
    fc.property(fc.array(preimage, { maxLength: 50 }), (preimages) => {
      expect(unpackPreimages(structuredClone(packPreimages(preimages)))).toEqual(preimages)
    }),
  ))
