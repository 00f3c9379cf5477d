import fc from 'fast-check'
import { type Address, type Hex, keccak256, numberToHex, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { fromHex, keccak } from '../../evm/index.js'
import { createAssociation } from './association.js'

function bytes(length: number) {
  return fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)
}
const address = bytes(20)
const word = bytes(32)

const MAX = 2n ** 256n
function slot(value: bigint): Hex {
  return numberToHex(((value % MAX) + MAX) % MAX, { size: 32 })
}
function hashed(input: Hex) {
  return { input: fromHex(input), hash: keccak(fromHex(input)) }
}
function mapped(owner: Address, key: Hex): Hex {
  return `${pad(owner)}${key.slice(2)}`
}

describe('association of slots with an address', () => {
  it('holds from keccak(A ‖ x) to 128 slots behind it', () => {
    fc.assert(
      fc.property(address, word, fc.bigInt({ min: 0n, max: 128n }), (owner, key, offset) => {
        const input = mapped(owner, key)
        const isAssociated = createAssociation([hashed(input)])
        expect(isAssociated(owner, slot(BigInt(keccak256(input)) + offset))).toBe(true)
      }),
    )
  })

  it('holds nowhere else', () => {
    const outside = fc.bigInt({ min: 129n, max: MAX - 1n })
    fc.assert(
      fc.property(address, word, outside, (owner, key, offset) => {
        const input = mapped(owner, key)
        const isAssociated = createAssociation([hashed(input)])
        expect(isAssociated(owner, slot(BigInt(keccak256(input)) + offset))).toBe(false)
      }),
      { examples: [[`0x${'11'.repeat(20)}`, slot(1n), MAX - 1n]] },
    )
  })

  it('runs over the end of the slots, as the arithmetic of contracts does', () => {
    fc.assert(
      fc.property(address, word, fc.bigInt({ min: 0n, max: 128n }), (owner, key, offset) => {
        const preimage = { input: fromHex(mapped(owner, key)), hash: fromHex(slot(MAX - 1n)) }
        expect(createAssociation([preimage])(owner, slot(MAX - 1n + offset))).toBe(true)
      }),
    )
  })

  it('holds for the slot that is the address, without any hash', () => {
    fc.assert(
      fc.property(address, fc.bigInt({ min: 1n, max: 200n }), (owner, offset) => {
        const isAssociated = createAssociation([])
        expect(isAssociated(owner, pad(owner))).toBe(true)
        expect(isAssociated(owner, slot(BigInt(owner) + offset))).toBe(false)
        expect(isAssociated(owner, slot(BigInt(owner) - offset))).toBe(false)
      }),
    )
  })

  it('is with one address only', () => {
    fc.assert(
      fc.property(address, address, word, (owner, other, key) => {
        fc.pre(owner !== other)
        const input = mapped(owner, key)
        expect(createAssociation([hashed(input)])(other, keccak256(input))).toBe(false)
      }),
    )
  })

  it('holds where more than 64 bytes were hashed', () => {
    fc.assert(
      fc.property(address, word, fc.integer({ min: 1, max: 512 }), (owner, key, more) => {
        const input: Hex = `${mapped(owner, key)}${'5a'.repeat(more)}`
        expect(createAssociation([hashed(input)])(owner, keccak256(input))).toBe(true)
      }),
    )
  })

  it('needs 64 hashed bytes or more that begin with the padded address', () => {
    fc.assert(
      fc.property(address, word, (owner, key) => {
        const inputs: Hex[] = [
          pad(owner),
          mapped(owner, key).slice(0, -2) as Hex,
          `${owner}${key.slice(2)}`,
          `${pad(owner, { dir: 'right' })}${key.slice(2)}`,
          `0x01${mapped(owner, key).slice(4)}`,
          `${key}${pad(owner).slice(2)}`,
        ]
        for (const input of inputs) {
          expect(createAssociation([hashed(input)])(owner, keccak256(input))).toBe(false)
        }
      }),
      { examples: [[`0x${'11'.repeat(20)}`, slot(MAX - 1n)]] },
    )
  })

  it('was computed in the run or is none', () => {
    fc.assert(
      fc.property(address, word, (owner, key) => {
        expect(createAssociation([])(owner, keccak256(mapped(owner, key)))).toBe(false)
      }),
    )
  })
})
