import fc from 'fast-check'
import { fromRlp, getContractAddress, keccak256, toRlp, toHex as viemHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../test/evm/harness.js'
import { fromHex, toBigInt, toBytes, toHex } from './bytes/hex.js'
import { keccak } from './bytes/keccak.js'
import { addressKey, hexOfLimbs, limbsOf, slotKey } from './bytes/limbs.js'
import { encodeRlp, integerBytes, type RlpItem } from './bytes/rlp.js'
import { create2Address, createAddress } from './createAddress.js'

const anyBytes = fc.uint8Array({ maxLength: 100 })
const anyWord = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })
const anyNonce = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })
const anyAddress = fc.bigInt({ min: 0n, max: (1n << 160n) - 1n }).map(addressOf)
const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ maxDepth: 3 }, anyBytes, fc.array(tie('item'), { maxLength: 4 })),
}))

describe('encoding, compared with viem', () => {
  it('keccak', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(toHex(keccak(bytes))).toBe(keccak256(bytes))
      }),
    )
  })

  it('RLP', () => {
    fc.assert(
      fc.property(item, (value) => {
        const encoded = encodeRlp(value)
        expect(toHex(encoded)).toBe(toRlp(value as Uint8Array, 'hex'))
        expect(fromRlp(encoded, 'bytes')).toEqual(value)
      }),
    )
  })

  it('integers have no leading zeros', () => {
    fc.assert(
      fc.property(anyWord, (value) => {
        expect(toHex(integerBytes(value))).toBe(value === 0n ? '0x' : evenHex(value))
      }),
    )
  })

  it('addresses of CREATE and CREATE2', () => {
    fc.assert(
      fc.property(anyAddress, anyNonce, anyWord, anyBytes, (from, nonce, salt, bytecode) => {
        const plain = getContractAddress({ from, nonce })
        expect(createAddress(from, nonce)).toBe(plain.toLowerCase())
        const salted = getContractAddress({
          from,
          bytecode,
          opcode: 'CREATE2',
          salt: viemHex(salt, { size: 32 }),
        })
        expect(create2Address(from, salt, bytecode)).toBe(salted.toLowerCase())
      }),
    )
  })
})

function evenHex(value: bigint): string {
  const digits = value.toString(16)
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}

describe('words', () => {
  it('go to bytes and back', () => {
    fc.assert(
      fc.property(anyWord, (value) => {
        expect(toBigInt(toBytes(value, 32))).toBe(value)
        expect(fromHex(toHex(toBytes(value, 32)))).toEqual(toBytes(value, 32))
      }),
    )
  })

  it('go to limbs and back', () => {
    fc.assert(
      fc.property(anyWord, (value) => {
        const hex = toHex(toBytes(value, 32))
        expect(hexOfLimbs(limbsOf(hex, 8), 0, 8)).toBe(hex)
      }),
    )
  })

  it('have equal keys only when they are equal', () => {
    fc.assert(
      fc.property(anyWord, anyWord, (a, b) => {
        const [x, y] = [a, b].map((value) => limbsOf(toHex(toBytes(value, 32)), 8))
        expect(slotKey(x!, 0) === slotKey(y!, 0)).toBe(a === b)
        expect(addressKey(x!, 0) === addressKey(y!, 0)).toBe(
          BigInt.asUintN(160, a) === BigInt.asUintN(160, b),
        )
        expect(slotKey(x!, 0)).toBe(slotKey(Uint32Array.from(x!), 0))
      }),
    )
  })
})
