import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { withoutConflicts } from './validateAgain.js'

const token: Address = `0x${'70'.repeat(20)}`
function slot(digit: number): Hex {
  return `0x${digit.toString(16).padStart(64, '0')}`
}
function address(digit: number): Address {
  return `0x${digit.toString(16).padStart(40, '0')}`
}

type Uses = { reads?: readonly number[]; writes?: readonly number[]; associatedIn?: Address }

/** A candidate that uses these slots of the token. */
function using(sender: number, { reads = [], writes = [], associatedIn }: Uses) {
  return {
    operation: { sender: address(sender) },
    accessed: {
      reads: new Map(reads.length > 0 ? [[token, new Set(reads.map(slot))]] : []),
      writes: new Map(writes.length > 0 ? [[token, new Set(writes.map(slot))]] : []),
      associatedIn: new Set(associatedIn ? [associatedIn] : []),
    },
  }
}

test('readers of a slot go together, a writer goes without them', () => {
  const [one, two] = [using(1, { reads: [7] }), using(2, { reads: [7] })]
  const writer = using(3, { writes: [7] })
  expect(withoutConflicts([one, two, writer])).toEqual([one, two])
  expect(withoutConflicts([writer, one, two])).toEqual([writer])
  expect(withoutConflicts([writer, using(4, { writes: [7] })])).toEqual([writer])
})

test('writers of different slots go together', () => {
  const all = [using(1, { writes: [1] }), using(2, { writes: [2] }), using(3, { reads: [3] })]
  expect(withoutConflicts(all)).toEqual(all)
})

test('an operation that uses storage of another sender waits, in either order', () => {
  const used = using(1, {})
  const user = using(2, { associatedIn: address(1) })
  expect(withoutConflicts([user, used])).toEqual([used])
  expect(withoutConflicts([used, user])).toEqual([used])
})

test('of two that use each other the first goes alone', () => {
  const one = using(1, { associatedIn: address(2) })
  const two = using(2, { associatedIn: address(1) })
  expect(withoutConflicts([one, two])).toEqual([one])
})

test('what is not known conflicts with nothing', () => {
  const unknown = { operation: { sender: address(9) }, accessed: undefined }
  const writer = using(1, { writes: [1] })
  expect(withoutConflicts([writer, unknown])).toEqual([writer, unknown])
  expect(withoutConflicts([])).toEqual([])
})

test('LIM-050: contexts of 65,536 bytes go together, what is too much waits', () => {
  const [most, little, tooMuch] = [65_000, 536, 537].map((contextSize, sender) => ({
    ...using(sender + 1, {}),
    contextSize,
  }))
  expect(withoutConflicts([most!, little!])).toEqual([most, little])
  expect(withoutConflicts([most!, tooMuch!, little!])).toEqual([most, little])
})

test('a context that is too large for any bundle goes alone', () => {
  const [alone, other] = [65_537, 1].map((contextSize, sender) => ({
    ...using(sender + 1, {}),
    contextSize,
  }))
  expect(withoutConflicts([alone!])).toEqual([alone])
  expect(withoutConflicts([alone!, other!])).toEqual([alone])
  expect(withoutConflicts([other!, alone!])).toEqual([other])
})
