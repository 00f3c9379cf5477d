import {
  type AbiParameter,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  parseAbiParameters,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { decodeCanonical, decodeParameters } from './decodeParameters.js'

const address = `0x${'11'.repeat(20)}` as const
const word = `0x${'0b'.repeat(32)}` as const

test.each<[types: string, values: readonly unknown[]]>([
  ['address,uint256,bytes', [address, 5n, '0x1234']],
  ['uint8,uint48,uint56,int8,int256,bool', [255, 7, 9n, -128, -(2n ** 255n), true]],
  ['bytes4,bytes32,string', ['0x12345678', word, 'ä text']],
  [
    'address[],uint256[],bytes[]',
    [[address, address], [1n], ['0x', '0x12', `0x${'ff'.repeat(70)}`]],
  ],
  ['(address to, uint256 value, bytes data)[]', [[{ to: address, value: 1n, data: '0x12' }]]],
  ['(uint256,bytes)', [[1n, '0x12']]],
  [
    '(uint256 a, (bool b, address[2] c) d)[2]',
    [
      [
        { a: 1n, d: { b: true, c: [address, address] } },
        { a: 2n, d: { b: false, c: [address, address] } },
      ],
    ],
  ],
  ['uint256[2][],bytes[2],string[][]', [[[1n, 2n]], ['0x12', '0x'], [['a'], [], ['b', 'c']]]],
  ['uint256[]', [[]]],
])('reads %s as viem does', (types, values) => {
  const parameters = parseAbiParameters(types) as readonly AbiParameter[]
  const data = encodeAbiParameters(parameters, values)
  expect(decodeParameters(parameters, data)).toEqual(decodeAbiParameters(parameters, data))
  expect(decodeParameters(parameters, data)).toEqual(values)
  expect(decodeParameters(parameters, data.slice(0, -64) as Hex)).toBeUndefined()
  expect(decodeCanonical(parameters, data)).toEqual(values)
  expect(decodeCanonical(parameters, concatHex([data, '0x00']))).toBeUndefined()
})

function words(...values: readonly (number | bigint)[]): Hex {
  return concatHex(values.map((value) => numberToHex(value, { size: 32 })))
}

test.each<[name: string, types: string, data: Hex]>([
  ['elements that share one place', 'bytes[]', words(32, 2, 64, 64, 1, 0)],
  ['elements that overlap in part', 'bytes[]', words(32, 2, 64, 96, 64, 32, 0, 0)],
  ['a tail inside the head', 'bytes', words(0)],
  ['two lists at one offset', 'uint256[],uint256[]', words(64, 64, 1, 7, 0, 0)],
  ['tuples at one offset', '(bytes)[]', words(32, 2, 64, 64, 32, 0)],
  ['a list in itself', 'bytes[][]', words(32, 1, 0)],
  ['a length beyond the end', 'uint256[]', words(32, 2n ** 47n)],
  ['a length of 2^256 - 1', 'bytes[]', words(32, 2n ** 256n - 1n)],
  ['an offset beyond the end', 'bytes', words(2n ** 47n)],
  ['an address with more bits', 'address', words(1n << 160n)],
  ['a number with more bits', 'uint8', words(256)],
  ['a negative number with more bits', 'int8', words(2n ** 255n)],
  ['a truth value of 2', 'bool', words(2)],
  ['bytes4 with a fifth byte', 'bytes4', words(1n << 216n)],
  ['lists of nothing', 'uint256[0][]', words(32, 1_000_000)],
  ['an endless list', `uint256[${'9'.repeat(400)}]`, words(1)],
  ['fixed lists beyond the end', 'uint256[100000][100000]', words(1)],
])('does not read %s', (_, types, data) => {
  const parameters = types.split(/,(?![^(]*\))/).map((type) => {
    const tuple = /^\((.*)\)(.*)$/.exec(type)
    return tuple ? { type: `tuple${tuple[2]}`, components: [{ type: tuple[1] ?? '' }] } : { type }
  })
  expect(decodeParameters(parameters, data)).toBeUndefined()
})

describe('time', () => {
  test('that many lists take is that of their bytes', () => {
    // 4,000 elements at one place of 64 kB would be 256 MB.
    const heads = Array.from({ length: 4_000 }, () => 4_000 * 32)
    const data = concatHex([words(32, 4_000, ...heads, 64_000), `0x${'ab'.repeat(64_000)}`])
    let reads = 0
    const counted = new Proxy([{ type: 'bytes[]' }] as const, {
      get: (target, name) => {
        reads++
        return Reflect.get(target, name)
      },
    })
    expect(decodeParameters(counted, data)).toBeUndefined()
    expect(reads).toBeLessThan(100)
  })
})
