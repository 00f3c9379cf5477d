import { describe, expect, test } from 'vitest'
import { Lru } from '../../base/lru.js'
import { fromHex, keccak, toHex } from '../../evm/index.js'
import { CodeMemory } from './codeMemory.js'

const first = '0x0000000000000000000000000000000000000001'
const second = '0x0000000000000000000000000000000000000002'

describe('code', () => {
  test('is one array however many accounts have it, and has one hash', () => {
    const memory = new CodeMemory()
    const code = memory.take(first, fromHex('0x6001'), 10n, 'cancun', memory.era)
    expect(memory.take(second, fromHex('0x6001'), 11n, 'cancun', memory.era)).toBe(code)
    expect(memory.at(first)).toBe(code)
    expect(memory.withHash(toHex(keccak(code)))).toBe(code)
    expect(memory.hashOf(code)).toMatch(/^0x[0-9a-f]{64}$/)
    expect(memory.hashOf(new Uint8Array([0x60, 1]))).toBeUndefined()
  })

  test.each([
    ['none', '0x', 'osaka'],
    ['a designator', '0xef01000000000000000000000000000000000000000000ff', 'osaka'],
    ['code before Cancun', '0x6001', 'shanghai'],
  ] as const)('is not taken for lasting: %s', (_, code, fork) => {
    const memory = new CodeMemory()
    expect(memory.take(first, fromHex(code), 10n, fork, memory.era)).toHaveLength(
      (code.length - 2) / 2,
    )
    expect(memory.at(first)).toBeUndefined()
  })

  test('that was learnt in blocks that a reorg took is forgotten', () => {
    const memory = new CodeMemory()
    memory.take(first, fromHex('0x6001'), 10n, 'cancun', memory.era)
    memory.take(second, fromHex('0x6002'), 11n, 'cancun', memory.era)
    memory.forget(11n)
    expect(memory.at(first)).toBeDefined()
    expect(memory.at(second)).toBeUndefined()
  })

  test('that comes after the reorg that took its block is not remembered', () => {
    const memory = new CodeMemory()
    const { era } = memory
    memory.forget(11n)
    expect(memory.take(first, fromHex('0x6001'), 11n, 'cancun', era)).toHaveLength(2)
    expect(memory.at(first)).toBeUndefined()
    memory.take(first, fromHex('0x6001'), 11n, 'cancun', memory.era)
    expect(memory.at(first)).toBeDefined()
  })
})

test('of too many entries the one that was not used longest leaves', () => {
  const lru = new Lru<string, number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  expect(lru.get('a')).toBe(1)
  lru.set('c', 3)
  expect([lru.get('a'), lru.get('b'), lru.get('c'), lru.size]).toEqual([1, undefined, 3, 2])
  lru.drop((value) => value === 3)
  expect([lru.get('c'), lru.size]).toEqual([undefined, 1])
})
