import fc from 'fast-check'
import { numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Head } from '../head.js'
import { agreeOnHead, quorumOf, type Voter } from './agreedHead.js'

/** Block `number` of a branch that leaves branch 0 after block `fork`. */
function block(number: number, branch = 0, fork = 100): Head {
  return {
    number: BigInt(number),
    hash: numberToHex((number > fork ? branch : 0) * 10_000 + number, { size: 32 }),
    parentHash: numberToHex(0, { size: 32 }),
    timestamp: number,
    baseFee: 1n,
  }
}
function voter(height: number, branch = 0): Voter {
  return {
    head: block(height, branch),
    at: async (number) => block(Number(number), branch),
  }
}

describe('of three or more nodes', () => {
  test('most decide: the head is the highest block that most have', async () => {
    const voters = [voter(107), voter(105), voter(101)]
    expect(await agreeOnHead(voters, 2)).toEqual({ head: block(105), by: voters.slice(0, 2) })
  })

  test('one on a branch of its own is outvoted, however high it is', async () => {
    const [alone, ...others] = [voter(900, 1), voter(105), voter(104)]
    expect(await agreeOnHead([alone!, ...others], 2)).toEqual({ head: block(104), by: others })
  })

  test('equally high branches give way to the block below that most have', async () => {
    const voters = [voter(101, 1), voter(101, 2), voter(100)]
    expect(await agreeOnHead(voters, 2)).toEqual({ head: block(100), by: voters })
  })

  test('one that cannot give the block in question has no vote', async () => {
    const voters = [{ ...voter(103), at: async () => undefined }, voter(101), voter(101)]
    expect((await agreeOnHead(voters, 2))?.by).toEqual(voters.slice(1))
  })

  test('fewer answers than a quorum, or no two alike, are no agreement', async () => {
    expect(await agreeOnHead([voter(105)], 2)).toBeUndefined()
    expect(await agreeOnHead([voter(101, 1), voter(101, 2), voter(101, 3)], 2)).toBeUndefined()
    expect(await agreeOnHead([], 1)).toBeUndefined()
  })

  test('whatever few wrong ones tell, what most tell of one branch is kept', async () => {
    const height = fc.integer({ min: 50, max: 150 })
    const shapes = fc
      .array(height, { minLength: 2, maxLength: 5 })
      .chain((honest) =>
        fc.tuple(fc.constant(honest), fc.array(height, { maxLength: honest.length - 1 })),
      )
    await fc.assert(
      fc.asyncProperty(shapes, async ([honest, wrong]) => {
        const voters = [
          ...wrong.map((each, i) => voter(each, i + 1)),
          ...honest.map((each) => voter(each)),
        ]
        const quorum = Math.floor(voters.length / 2) + 1
        const agreed = await agreeOnHead(voters, quorum)
        expect(agreed?.head.hash).toBe(block(Number(agreed?.head.number)).hash)
        const lowest = Math.min(...honest)
        if (honest.length >= quorum)
          expect(Number(agreed?.head.number)).toBeGreaterThanOrEqual(lowest)
      }),
    )
  })
})

describe('of two nodes', () => {
  test('the higher one tells the head, and the other one is used once it has it', async () => {
    const voters = [voter(101), voter(105)]
    expect(await agreeOnHead(voters, 1)).toEqual({ head: block(105), by: [voters[1]] })
  })

  test('the preferred one tells it when they are equally high on two branches', async () => {
    const voters = [voter(105, 1), voter(105, 2)]
    expect(await agreeOnHead(voters, 1)).toEqual({ head: block(105, 1), by: [voters[0]] })
  })
})

test('a quorum is most of what is configured, from three on', () => {
  expect([1, 2, 3, 4, 5].map(quorumOf)).toEqual([1, 1, 2, 3, 3])
})
