import fc from 'fast-check'
import { type Address, concatHex, type Hex, hexToBigInt, numberToHex, sliceHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import { sponsorshipHash } from '../../src/paymaster/tank/sponsorshipHash.js'
import { encodeTankData } from '../../src/paymaster/tank/tankData.js'
import { stubSignature } from '../../src/gas/placeholder.js'
import { randomRuns } from '../support/runs.js'
import { address, bytes, operation, timeRange, uint } from '../support/tanks/arbitraryOperation.js'
import { askTank, hashFromTank } from '../support/tanks/tankCalls.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

const SECP256K1_N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe.each(VERSIONS)('signatures of a tank on EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)
  let tank: Address

  beforeAll(async () => {
    tank = await chain().createTank(0, { wei: 0n })
  })

  afterAll(() => chain().anvil.stop())

  const isAccepted = async (op: Operation): Promise<boolean> => {
    const answer = await askTank(chain(), op)
    if (typeof answer === 'string') throw new Error(answer)
    return answer.authorizer === 0n
  }

  test('contract and service hash every operation alike', () =>
    fc.assert(
      fc.asyncProperty(operation, timeRange, async (op, range) => {
        const paid = { ...op, paymaster: tank }
        const hash = sponsorshipHash(paid, chain().entryPoint, chain().chainId, range)
        expect(await hashFromTank(chain(), paid, range)).toBe(hash)
      }),
      { numRuns: randomRuns(100) },
    ))

  test('a signature holds for the operation it was made for, and for its time range', () =>
    fc.assert(
      fc.asyncProperty(operation, timeRange, async (op, range) => {
        const sponsored = await chain().sponsor(op, tank, range)
        expect(await askTank(chain(), sponsored)).toEqual({
          context: '0x',
          authorizer: 0n,
          ...range,
        })
      }),
      { numRuns: randomRuns(30) },
    ))

  const changes = {
    sender: address,
    nonce: uint(256),
    factory: address,
    factoryData: bytes,
    callData: bytes,
    callGasLimit: uint(128),
    verificationGasLimit: uint(128),
    preVerificationGas: uint(256),
    maxFeePerGas: uint(128),
    maxPriorityFeePerGas: uint(128),
    ...(version !== '0.6' && {
      paymasterVerificationGasLimit: uint(128),
      paymasterPostOpGasLimit: uint(128),
    }),
  }

  test.each(Object.keys(changes) as (keyof typeof changes)[])('%s cannot be changed', (field) =>
    fc.assert(
      fc.asyncProperty(
        operation,
        address,
        changes[field] as fc.Arbitrary<unknown>,
        async (...drawn) => {
          const [drawnOp, factory, value] = drawn
          const op = { ...drawnOp, factory }
          const sponsored = await chain().sponsor(op, tank)
          fc.pre(sponsored[field] !== value)
          expect(await isAccepted({ ...sponsored, [field]: value })).toBe(false)
        },
      ),
      { numRuns: 15 },
    ),
  )

  test('the factory cannot be taken away', () =>
    fc.assert(
      fc.asyncProperty(operation, address, async (op, factory) => {
        const sponsored = await chain().sponsor({ ...op, factory }, tank)
        const without = { ...sponsored, factory: undefined, factoryData: '0x' as Hex }
        expect(await isAccepted(without)).toBe(false)
      }),
      { numRuns: 15 },
    ))

  test('no byte of the time range or the signature can be changed', () =>
    fc.assert(
      fc.asyncProperty(
        operation,
        fc.integer({ min: 0, max: 76 }),
        fc.integer({ min: 1, max: 255 }),
        async (op, index, difference) => {
          const sponsored = await chain().sponsor(op, tank)
          const data = Buffer.from(sponsored.paymasterData.slice(2), 'hex')
          data[index]! ^= difference
          const paymasterData: Hex = `0x${data.toString('hex')}`
          expect(await isAccepted({ ...sponsored, paymasterData })).toBe(false)
        },
      ),
      { numRuns: randomRuns(60) },
    ))

  test('the same signature in its high-s form is refused', async () => {
    const [op] = fc.sample(operation, { numRuns: 1, seed: 1 })
    const sponsored = await chain().sponsor(op!, tank)
    const data = sponsored.paymasterData
    const high = numberToHex(SECP256K1_N - hexToBigInt(sliceHex(data, 44, 76)), { size: 32 })
    const parity: Hex = sliceHex(data, 76) === '0x1b' ? '0x1c' : '0x1b'
    const paymasterData = concatHex([sliceHex(data, 0, 44), high, parity])
    expect(await isAccepted(sponsored)).toBe(true)
    expect(await isAccepted({ ...sponsored, paymasterData })).toBe(false)
  })

  test('a stub signature is refused without a revert, with its time range', async () => {
    const [op] = fc.sample(operation, { numRuns: 1, seed: 2 })
    const range = { validUntil: 2_000_000_000, validAfter: 1_000_000_000 }
    const paymasterData = encodeTankData(range, stubSignature)
    expect(await askTank(chain(), { ...op!, paymaster: tank, paymasterData })).toEqual({
      context: '0x',
      authorizer: 1n,
      ...range,
    })
  })

  test('data of any other length reverts with a sentence', () =>
    fc.assert(
      fc.asyncProperty(operation, fc.uint8Array({ maxLength: 200 }), async (op, data) => {
        fc.pre(data.length !== 77)
        const paymasterData: Hex = `0x${Buffer.from(data).toString('hex')}`
        expect(await askTank(chain(), { ...op, paymaster: tank, paymasterData })).toBe(
          `Tank: paymasterAndData must be ${version === '0.6' ? 97 : 129} bytes`,
        )
      }),
      { numRuns: randomRuns(60) },
    ))

  test('an operation with malformed data fails alone, by name', async () => {
    const filled = await chain().createTank(1)
    const good = await chain().sign(
      await chain().sponsor(await chain().accountDraft('good'), filled),
      'good',
    )
    const sponsored = await chain().sponsor(await chain().accountDraft('bad'), filled)
    for (const paymasterData of ['0x', '0x00', `${sponsored.paymasterData}00`] as const) {
      const bad = await chain().sign({ ...sponsored, paymasterData }, 'bad')
      expect(await chain().failureOf([good, bad])).toMatch(/^AA33 reverted: Tank: paymasterAndData/)
    }
    expect(await chain().failureOf([good])).toBeUndefined()
  })
})
