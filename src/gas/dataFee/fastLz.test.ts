import fc from 'fast-check'
import { LibZip } from 'solady'
import { expect, test } from 'vitest'
import { createRandom } from '../../../test/evm/random.js'
import { rollupVectors } from '../../../test/gas/vectors/rollupVectors.js'
import { fromHex, toHex } from '../../evm/index.js'
import { fastLzLength } from './fastLz.js'

test.each(rollupVectors.fastlz.map((vector, index) => ({ ...vector, index })))(
  'vector $index of other clients takes $length bytes',
  ({ hex, repeat = '', times = 0, length }) => {
    expect(fastLzLength(fromHex(`0x${hex ?? repeat.repeat(times)}`))).toBe(length)
  },
)

test('the length is that of the contract library, whatever the bytes', () => {
  const random = createRandom(20_261_122)
  for (let run = 0; run < 150; run++) {
    const pieces = Array.from({ length: 1 + random.below(12) }, () =>
      random.bytes(random.below(90)),
    )
    // Pieces come again, so that there are matches near and far, long and short.
    const chosen = Array.from({ length: random.below(60) }, () => random.pick(pieces))
    const bytes = Uint8Array.from(chosen.flatMap((piece) => [...piece]))
    expect(fastLzLength(bytes)).toBe((LibZip.flzCompress(toHex(bytes)).length - 2) / 2)
  }
})

test('words of an ABI encoding, runs and far repeats have the length of the contract library', () => {
  const word = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.constantFrom(0n, 1n, 0xe0n),
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 120 }), (words) => {
      const hex = words.map((value) => value.toString(16).padStart(64, '0')).join('')
      const bytes = fromHex(`0x${hex}`)
      expect(fastLzLength(bytes)).toBe((LibZip.flzCompress(`0x${hex}`).length - 2) / 2)
    }),
  )
  const far = Uint8Array.from([...Array(9_000).keys()].flatMap((i) => [i & 255, (i * 7) & 255]))
  const twice = Uint8Array.from([...far, ...far])
  expect(fastLzLength(twice)).toBe((LibZip.flzCompress(toHex(twice)).length - 2) / 2)
})
