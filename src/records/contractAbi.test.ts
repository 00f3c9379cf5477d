import { encodeErrorResult, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { dictionaryOf, lineOf, MOST_ABI_ITEMS, nameData, readContractAbi } from './contractAbi.js'

const lines = [
  'function mint(address to, uint256 id)',
  'function swap((address from, uint256[] amounts)[] steps, bytes data)',
  'error SoldOut(uint256 left)',
]

function read(text: string) {
  const items = readContractAbi(text)
  if (typeof items === 'string') throw new Error(items)
  return items
}

describe('an ABI', () => {
  test('as JSON, as an artifact and as lines is the same', () => {
    const json = [...parseAbi(lines), { type: 'constructor', inputs: [] }, { type: 'receive' }]
    const expected = read(lines.join(';\n'))
    expect(expected.map(lineOf)).toEqual(lines)
    expect(read(JSON.stringify(json)).map(lineOf)).toEqual(lines)
    expect(read(JSON.stringify({ abi: json, bytecode: '0x' })).map(lineOf)).toEqual(lines)
    expect(read([...lines, ...lines].join('\n'))).toHaveLength(3)
    expect(read('')).toEqual([])
  })

  test.each([
    ['{', 'is not valid JSON'],
    ['{"abi": 1}', 'is no list, and has no member abi that is one'],
    ['function mint(address to', 'is not an ABI: "function mint(address to" cannot be read'],
    ['[{"type": "function", "name": "<b>", "inputs": []}]', 'cannot be read'],
    [
      '[{"type": "function", "name": "f", "inputs": [{"type": "uint256[9999]"}]}]',
      'cannot be read',
    ],
    ['[{"type": "function", "name": "f", "inputs": [{"type": "tuple"}]}]', 'cannot be read'],
    [
      `[{"type": "function", "inputs": ${'['.repeat(60_000)}${']'.repeat(60_000)}}]`,
      'without a name',
    ],
    [`function f(${'a'.repeat(2_000)})`, 'has a line of more than 2000 characters'],
    [
      Array.from({ length: MOST_ABI_ITEMS + 1 }, (_, at) => `error E${at}()`).join('\n'),
      'has 501 functions and errors, at most 500 are kept',
    ],
  ])('what is not one is refused (%#)', (text, sentence) => {
    expect(readContractAbi(text)).toContain(sentence)
  })
})

test('a call and an error are shown with the names of their arguments, structs included', () => {
  const abi = parseAbi(lines)
  const items = read(lines.join('\n'))
  const from = `0x${'11'.repeat(20)}` as const
  const call = encodeFunctionData({
    abi,
    functionName: 'swap',
    args: [[{ from, amounts: [1n, 2n] }], '0xab'],
  })
  expect(nameData(call, dictionaryOf(items, 'function'))).toEqual({
    name: 'swap',
    signature: 'swap((address,uint256[])[],bytes)',
    args: [
      { name: 'steps', value: `(${from}, 1,2)` },
      { name: 'data', value: '0xab' },
    ],
  })
  const error = encodeErrorResult({ abi, errorName: 'SoldOut', args: [3n] })
  expect(nameData(error, dictionaryOf(items, 'error'))?.args).toEqual([
    { name: 'left', value: '3' },
  ])
  expect(nameData(error, dictionaryOf(items, 'function'))).toBeUndefined()
  expect(nameData('0x12', dictionaryOf(items, 'error'))).toBeUndefined()
})
