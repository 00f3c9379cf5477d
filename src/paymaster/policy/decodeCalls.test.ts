import fc from 'fast-check'
import {
  type AbiFunction,
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { decodeCalls, isNesting } from './decodeCalls.js'

const abi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address to, uint256 value, bytes data)',
  'function execute_ncC(address to, uint256 value, bytes data)',
  'function executeBatch(address[] to, bytes[] data)',
  'function executeBatch(address[] to, uint256[] value, bytes[] data)',
  'function executeBatch_y6U(address[] to, uint256[] value, bytes[] data)',
  'function executeBatch(Call[] calls)',
  'function execute(address to, uint256 value, bytes data, uint8 operation)',
  'function executeDelegateCall(address to, bytes data)',
  'function executeUserOp(address to, uint256 value, bytes data, uint8 operation)',
  'function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)',
  'function execute(bytes32 mode, bytes execution)',
  'function execute(Call call)',
  'function multiSend(bytes transactions)',
])
function encode(signature: string, args: readonly unknown[]): Hex {
  const selector = toFunctionSelector(signature)
  const item = abi.find((each) => toFunctionSelector(each as AbiFunction) === selector)
  return encodeFunctionData({ abi: [item as AbiFunction], args })
}

const one: Address = `0x${'11'.repeat(20)}`
const two: Address = `0x${'2b'.repeat(20)}`
function call(to: Address, value: bigint, data: Hex, delegate = false) {
  return {
    to,
    value,
    data,
    delegate,
  }
}
const batch = [call(one, 1n, '0x1234'), call(two, 0n, '0x')]
const targets = [one, two]
const datas = ['0x1234', '0x'] as const
const structs = batch.map(({ to, value, data }) => ({ to, value, data }))

function mode(head: Hex): Hex {
  return `${head}${'00'.repeat(32 - (head.length - 2) / 2)}`
}
const callStructs = abi.find(
  (item) => item.name === 'executeBatch' && item.inputs.length === 1,
)!.inputs
function execution(head: Hex, data: Hex): Hex {
  return encode('execute(bytes32,bytes)', [mode(head), data])
}

const opDataMode = '0x01000000000078210001'
const batchesMode = '0x01000000000078210002'
const plainBatch = encodeAbiParameters(callStructs, [structs])
function withOpData(opData: Hex): Hex {
  return encodeAbiParameters([...callStructs, { type: 'bytes' }], [structs, opData])
}
/** `baseapp`, in 26 bytes. */
const suffix: Hex = `0x${Buffer.from('baseapp').toString('hex')}070080218021802180218021802180218021`

const multiSend = '0x38869bf66a61cf6bdb996a6ae40d5853fd43b526'
function packed(operation: number, { to, value, data }: (typeof batch)[number]): Hex {
  return encodePacked(
    ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
    [operation, to, value, BigInt((data.length - 2) / 2), data],
  )
}
function send(transactions: Hex): Hex {
  return encode('multiSend(bytes)', [transactions])
}
function safe(to: Address, data: Hex, operation: number): Hex {
  return encode('executeUserOp(address,uint256,bytes,uint8)', [to, 0n, data, operation])
}

test.each<[name: string, callData: Hex, calls: readonly object[]]>([
  ['nothing', '0x', []],
  ['SimpleAccount', encode('execute(address,uint256,bytes)', [one, 1n, '0x1234']), [batch[0]!]],
  ['Biconomy V2', encode('execute_ncC(address,uint256,bytes)', [two, 0n, '0x']), [batch[1]!]],
  [
    'SimpleAccount v0.6 batch',
    encode('executeBatch(address[],bytes[])', [targets, datas]),
    [call(one, 0n, '0x1234'), call(two, 0n, '0x')],
  ],
  [
    'SimpleAccount v0.7 batch',
    encode('executeBatch(address[],uint256[],bytes[])', [targets, [1n, 0n], datas]),
    batch,
  ],
  [
    'SimpleAccount v0.7 batch without values',
    encode('executeBatch(address[],uint256[],bytes[])', [targets, [], datas]),
    [call(one, 0n, '0x1234'), call(two, 0n, '0x')],
  ],
  [
    'Biconomy V2 batch',
    encode('executeBatch_y6U(address[],uint256[],bytes[])', [targets, [1n, 0n], datas]),
    batch,
  ],
  [
    'SimpleAccount v0.8, Coinbase and Light Account batch',
    encode('executeBatch((address,uint256,bytes)[])', [structs]),
    batch,
  ],
  [
    'Kernel v2',
    encode('execute(address,uint256,bytes,uint8)', [one, 1n, '0x1234', 0]),
    [batch[0]!],
  ],
  [
    'Kernel v2 delegatecall',
    encode('execute(address,uint256,bytes,uint8)', [one, 0n, '0x1234', 1]),
    [call(one, 0n, '0x1234', true)],
  ],
  [
    'Kernel v2 executeDelegateCall',
    encode('executeDelegateCall(address,bytes)', [one, '0x1234']),
    [call(one, 0n, '0x1234', true)],
  ],
  ['Safe', safe(one, '0x1234', 0), [call(one, 0n, '0x1234')]],
  ['Safe delegatecall', safe(one, '0x1234', 1), [call(one, 0n, '0x1234', true)]],
  [
    'Safe batch',
    safe(multiSend, send(concatHex([packed(0, batch[0]!), packed(0, batch[1]!)])), 1),
    batch,
  ],
  [
    'Safe batch with a delegatecall in it',
    safe(multiSend, send(concatHex([packed(0, batch[0]!), packed(1, batch[1]!)])), 1),
    [batch[0]!, { ...batch[1]!, delegate: true }],
  ],
  [
    'ERC-7579 single',
    execution('0x00', encodePacked(['address', 'uint256', 'bytes'], [one, 1n, '0x1234'])),
    [batch[0]!],
  ],
  [
    'ERC-7579 single that may fail',
    execution('0x0001', encodePacked(['address', 'uint256', 'bytes'], [two, 0n, '0x'])),
    [batch[1]!],
  ],
  ['ERC-7579 batch', execution('0x01', encodeAbiParameters(callStructs, [structs])), batch],
  [
    'ERC-7579 delegatecall',
    execution('0xff', encodePacked(['address', 'bytes'], [one, '0x1234'])),
    [call(one, 0n, '0x1234', true)],
  ],
  ['MetaMask, one call', encode('execute((address,uint256,bytes))', [structs[0]]), [batch[0]!]],
  ['ERC-7821 without opData', execution(opDataMode, plainBatch), batch],
  ['ERC-7821 with opData', execution(opDataMode, withOpData('0x99')), batch],
  [
    'ERC-7821 batch of batches',
    execution(
      batchesMode,
      encodeAbiParameters([{ type: 'bytes[]' }], [[plainBatch, withOpData('0x'), plainBatch]]),
    ),
    [...batch, ...batch, ...batch],
  ],
  [
    'an ERC-8021 suffix',
    concatHex([encode('execute(address,uint256,bytes)', [one, 1n, '0x1234']), suffix]),
    [batch[0]!],
  ],
  [
    'the suffixes of a wallet and an app',
    concatHex([execution('0x01', plainBatch), suffix, suffix]),
    batch,
  ],
  [
    'a suffix that ends the data of the call, not that of the account',
    encode('execute(address,uint256,bytes)', [one, 1n, concatHex([`0x${'00'.repeat(6)}`, suffix])]),
    [call(one, 1n, concatHex([`0x${'00'.repeat(6)}`, suffix]))],
  ],
  [
    'executeUserOp of v0.7 around another form',
    concatHex(['0x8dd7712f', encode('execute(address,uint256,bytes)', [one, 1n, '0x1234'])]),
    [batch[0]!],
  ],
  [
    'a Kernel v4 whose validation has a hook: a batch of which each call may fail',
    concatHex(['0x8dd7712f', execution('0x0101', plainBatch)]),
    batch,
  ],
])('reads %s', (_, callData, calls) => {
  expect(decodeCalls(callData)).toEqual(calls)
})

test('the wrapper is executeUserOp of IAccountExecute', () => {
  const operation = '(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)'
  expect(toFunctionSelector(`executeUserOp(${operation},bytes32)`)).toBe('0x8dd7712f')
})

test.each<[name: string, callData: Hex]>([
  ['a selector of no account', '0xdeadbeef00000000'],
  ['fewer bytes than a selector', '0xb61d27'],
  ['a selector alone', '0xb61d27f6'],
  [
    'arguments that end early',
    encode('execute(address,uint256,bytes)', [one, 1n, '0x12']).slice(0, 140) as Hex,
  ],
  ['lists of unlike length', encode('executeBatch(address[],bytes[])', [targets, ['0x12']])],
  [
    'values of unlike length',
    encode('executeBatch(address[],uint256[],bytes[])', [targets, [1n], datas]),
  ],
  ['an operation that is neither call nor delegatecall', safe(one, '0x1234', 2)],
  ['a static call mode', execution('0xfe', encodePacked(['address', 'bytes'], [one, '0x1234']))],
  ['a mode with a selector that nobody knows', execution('0x01000000000078210003', plainBatch)],
  ['a single call in a mode of ERC-7821', execution('0x00000000000078210001', plainBatch)],
  ['a mode with reserved bytes', execution('0x0100000001', plainBatch)],
  ['opData in a mode without', execution('0x01', withOpData('0x'))],
  [
    'batches that contain batches',
    execution(
      batchesMode,
      encodeAbiParameters(
        [{ type: 'bytes[]' }],
        [[encodeAbiParameters([{ type: 'bytes[]' }], [[plainBatch]])]],
      ),
    ),
  ],
  [
    'bytes behind the arguments',
    concatHex([encode('execute(address,uint256,bytes)', [one, 1n, '0x1234']), '0x00']),
  ],
  ['three suffixes', concatHex([execution('0x01', plainBatch), suffix, suffix, suffix])],
  [
    'a suffix of an unknown schema',
    concatHex([execution('0x01', plainBatch), '0x0980218021802180218021802180218021']),
  ],
  [
    'padding that is not zero',
    encode('execute(address,uint256,bytes)', [one, 1n, '0x1234']).replace(/00$/, '01') as Hex,
  ],
  ['an execution that ends early', execution('0x00', one)],
  ['a MultiSend that ends early', safe(multiSend, send('0x00ff'), 1)],
  [
    'a MultiSend with a length beyond its end',
    safe(multiSend, send(`${packed(0, batch[0]!).slice(0, -2)}` as Hex), 1),
  ],
  [
    'a wrapper within a wrapper',
    concatHex([
      '0x8dd7712f',
      '0x8dd7712f',
      encode('execute(address,uint256,bytes)', [one, 1n, '0x']),
    ]),
  ],
  ['a wrapper around nothing', '0x8dd7712f'],
  ...(
    [
      'installModule(uint256,address,bytes)',
      'installModule((uint256,address,bytes,bytes)[])',
      'setRoot(bytes21)',
      'executeFromExecutor(bytes32,bytes)',
    ] as const
  ).map((signature): [string, Hex] => [
    `what else a Kernel v4 takes: ${signature}`,
    concatHex([toFunctionSelector(signature), plainBatch]),
  ]),
])('does not read %s', (_, callData) => {
  expect(decodeCalls(callData)).toBeUndefined()
})

test('a delegatecall to what only looks like MultiSend is one delegatecall', () => {
  const calls = decodeCalls(safe(two, send(packed(0, batch[0]!)), 1))
  expect(calls).toMatchObject([{ to: two, delegate: true }])
})

test('never throws, whatever stands behind a selector', () => {
  const selectors = abi.map((item) => toFunctionSelector(item as AbiFunction))
  fc.assert(
    fc.property(fc.constantFrom(...selectors), fc.uint8Array({ maxLength: 300 }), (head, bytes) => {
      const calls = decodeCalls(`${head}${Buffer.from(bytes).toString('hex')}`)
      expect(calls === undefined || Array.isArray(calls)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

describe('isNesting', () => {
  test.each<[data: Hex, nesting: boolean]>([
    ['0xac9650d8', true],
    ['0x82ad56cb', true],
    ['0x8d80ff0a', true],
    ['0xb61d27f6', true],
    ['0xe9ae5c53', true],
    ['0x8dd7712f', true],
    ['0xa9059cbb', false],
    ['0x', false],
    ['0xac9650', false],
  ])('%s: %s', (data, nesting) => {
    expect(isNesting(call(one, 0n, data))).toBe(nesting)
  })
})
