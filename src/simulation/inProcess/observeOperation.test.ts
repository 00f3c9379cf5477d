import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import { fromHex, toHex, type InspectedEnd } from '../../evm/index.js'
import { observeOperation } from './observeOperation.js'

const entryPoint = createEntryPoint('0.9', '0x00000000000000000000000000000000000000ee')
const { callLayout } = entryPoint
const sender: Address = '0x00000000000000000000000000000000000000aa'
const paymaster: Address = '0x00000000000000000000000000000000000000bb'
const op = { sender, paymaster, callData: '0x' } as const
function word(value: bigint) {
  return value.toString(16).padStart(64, '0')
}

const from = entryPoint.address
const toAccount = { depth: 1, from, to: sender, input: fromHex(`${callLayout.validateUserOp}00`) }
const toPaymaster = {
  depth: 1,
  from,
  to: paymaster,
  input: fromHex(`${callLayout.validatePaymasterUserOp}00`),
}
function answer(...words: bigint[]): InspectedEnd {
  return {
    success: true,
    gasUsed: 7,
    gasNeeded: 7,
    output: fromHex(`0x${words.map(word).join('')}`),
  }
}
function range(validAfter: bigint, validUntil: bigint) {
  return (validAfter << 208n) | (validUntil << 160n)
}
const flag = 1n << 47n

test.each([
  ['a valid answer', 0n],
  ['a failed signature', 1n],
  ['a time range', range(10n, 20n)],
  ['a failed signature with a time range', range(10n, 20n) | 1n],
  ['an aggregator', 0xa66n],
  ['one bound that looks like a block number', range(flag | 10n, 20n)],
  ['a range of blocks', range(flag | 10n, flag | 20n)],
  ['that with a failed signature', range(flag, flag | 2n) | 1n],
])('%s is noted and hidden', (_, data) => {
  const { observed, inspector } = observeOperation(entryPoint, op, 'validation')
  expect(toHex(inspector.leave(toAccount, answer(data))!)).toBe(`0x${word(0n)}`)
  const ofPaymaster = inspector.leave(toPaymaster, answer(64n, data, 0n))!
  expect(toHex(ofPaymaster)).toBe(`0x${word(64n)}${word(0n)}${word(0n)}`)
  expect(observed).toMatchObject({ accountData: data, paymasterData: data })
})

test('what the EntryPoint asks of the account is noted, also where that reverts', () => {
  const { observed, inspector } = observeOperation(entryPoint, op, 'validation')
  const input = fromHex(`${callLayout.validateUserOp}${[96n, 1n, 5n].map(word).join('')}`)
  inspector.leave({ ...toAccount, input }, { ...answer(), success: false })
  expect(observed.missingAccountFunds).toBe(5n)
})

test('an EntryPoint with other code may hand too little to execution', () => {
  for (const words of [[], Array(40).fill(2n ** 256n - 1n)]) {
    const { observed, inspector } = observeOperation(entryPoint, op, 'validation')
    const input = fromHex(`${callLayout.innerHandleOp}${words.map(word).join('')}`)
    inspector.enter({ depth: 1, from, to: from, input })
    expect(observed.validated?.contextSize).toBe(0)
  }
})

test('answers that are too short or reverts stay as they are', () => {
  const { observed, inspector } = observeOperation(entryPoint, op, 'validation')
  expect(inspector.leave(toAccount, { ...answer(1n), success: false })).toBeUndefined()
  expect(inspector.leave(toAccount, { ...answer(), gasUsed: 5 })).toBeUndefined()
  expect(inspector.leave(toPaymaster, answer(64n, 1n))).toBeUndefined()
  expect(observed).toMatchObject({
    accountData: undefined,
    paymasterData: undefined,
    accountGas: 12,
    paymasterGas: 7,
  })
})

test('calls that accounts make are not taken for those of the EntryPoint', () => {
  const { observed, inspector } = observeOperation(entryPoint, op, 'execution')
  const input = fromHex(`${callLayout.innerHandleOp}${word(0n).repeat(16)}`)
  inspector.enter({ depth: 2, from: sender, to: from, input })
  expect(inspector.leave({ ...toAccount, depth: 2 }, answer(1n))).toBeUndefined()
  expect(observed).toMatchObject({ accountData: undefined, validated: undefined, accountGas: 0 })
})
