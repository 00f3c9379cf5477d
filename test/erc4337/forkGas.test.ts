import { readdirSync, readFileSync } from 'node:fs'
import { type Address, concatHex, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundleGasLimit } from '../../src/bundler/fees/pricedOperation.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { forkGas, type StateBefore } from '../../src/erc4337/forkGas.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { type Fork, fromHex, intrinsicGas } from '../../src/evm/index.js'
import { copyingGas } from '../../src/gas/copyingGas.js'
import { preVerificationGas } from '../../src/gas/preVerificationGas.js'
import { createRandom, type Random } from '../evm/random.js'
import { scriptedAbi } from '../support/chain/scriptedBundles.js'
import { accountAt, EXECUTOR, ForkWorld } from './forkGasWorld.js'

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
const forks: readonly Fork[] = ['osaka', 'amsterdam']
const quiet = encodeFunctionData({ abi: scriptedAbi, functionName: 'burnAndFail' })
const PAYMASTER = accountAt(20)
const SEED = Number(process.env.PURSER_SEED ?? 8037)

/** Pays its prefund; any other call it passes on: an address, and what to call it with. */
const PASSING_ACCOUNT: Hex = concatHex([
  '0x5f3560e01c806319822f7c14602c57633a871cdd14602c57',
  '0x602436038060245f375f5f825f5f6004355af100',
  '0x5b5f5f5f5f604435335af1505f5f5260205ff3',
])
/** Writes pairs of a slot and its value. */
const SLOTS: Hex = '0x5f5b3681101560175780602001358135556040016001565b00'
const STORE = accountAt(30)

const noLimits = { executionCharge: 0n, contextSize: 0, hasBeneficiary: false } as const

/** The operation with the preVerificationGas that admission asks of it in a bundle of so many. */
function paid(
  world: ForkWorld,
  op: Operation,
  bundleSize: number,
  before?: StateBefore,
): Operation {
  const share = { ...noLimits, bundleSize, verificationGasUsed: 30_000n, before }
  return { ...op, preVerificationGas: preVerificationGas(world.entryPoint, op, share) }
}

type Sent = { readonly op: Operation; readonly before?: StateBefore | undefined }

/** Sends a bundle as the bundler would: with its own gas limit. Returns what the executor gains in gas. */
function gainOf(
  world: ForkWorld,
  sent: readonly Sent[],
  { authorized = [], keeps = false }: { authorized?: readonly Operation[]; keeps?: boolean } = {},
) {
  const { entryPoint } = world
  const ops = sent.map(({ op }) => op)
  const data = entryPoint.encodeHandleOps(ops, EXECUTOR)
  const carried = sent.map((each) => ({ ...each, contextSize: 0 }))
  const gas = Number(bundleGasLimit(entryPoint, carried, data))
  const authorizations = authorized.map(({ authorization }) => {
    const { address, nonce, yParity, r, s } = authorization!
    return { chainId: 31_337n, address, nonce, yParity, r: BigInt(r), s: BigInt(s) }
  })
  const handled = world.handle(ops, {
    gas,
    keeps,
    ...(authorizations.length > 0 && { authorizations }),
  })
  const charged = handled.outcomes.reduce((sum, { actualGasUsed }) => sum + actualGasUsed, 0n)
  return { ...handled, gas, gain: charged - handled.gasUsed }
}

/** An account's call of the store that writes these pairs. */
function writes(pairs: readonly (readonly [slot: number, value: number])[]): Hex {
  const words = pairs.flat().map((word) => numberToHex(word, { size: 32 }))
  return concatHex(['0x12345678', numberToHex(BigInt(STORE), { size: 32 }), ...words])
}

describe.each(versions)('bundles of EntryPoint v%s', (version) => {
  let world: ForkWorld

  beforeAll(() => {
    world = new ForkWorld(version)
    world.enter('osaka')
    for (const i of [0, 1, 2, 3]) world.place(accountAt(i))
    world.place(PAYMASTER)
    world.placeCode(STORE, SLOTS)
    for (let i = 4; i < 12; i++) world.placeCode(accountAt(i), PASSING_ACCOUNT)
    for (const i of [8, 9, 10, 11]) world.deposit(accountAt(i), 10n ** 20n)
    // Nonces that are in use.
    for (const i of [0, 1, 2, 3, 8, 9, 10, 11]) {
      const first = world.operation(accountAt(i), quiet, { callGasLimit: 30_000n })
      expect(world.handle([first], { keeps: true }).success).toBe(true)
    }
  })

  test.each(forks)('on %s cost what the table says on top of what is metered', (fork) => {
    world.enter(fork)
    const { entryPoint } = world
    const { overhead } = entryPoint.gas()
    for (const count of [1, 2, 3, 4]) {
      const ops = [0, 1, 2, 3].slice(0, count).map((i) => {
        return world.operation(accountAt(i), quiet, { callGasLimit: 30_000n })
      })
      const { gasUsed, outcomes } = world.handle(ops)
      expect(outcomes).toHaveLength(count)
      const data = fromHex(entryPoint.encodeHandleOps(ops, EXECUTOR))
      const { intrinsic } = intrinsicGas({ fork }, { to: entryPoint.address, data })
      const metered = ops.reduce((sum, op, at) => {
        return sum + outcomes[at]!.actualGasUsed - op.preVerificationGas
      }, 0n)
      const copied = ops.map((op) => {
        return { op, contextSize: 0, encoded: entryPoint.encodeOperation(op) }
      })
      const left = Number(gasUsed - metered) - intrinsic - copyingGas(overhead, copied)
      const computed = overhead.fixed + overhead.perOp * count
      expect(left, `${count} operations`).toBeLessThanOrEqual(computed)
      expect(left, `${count} operations`).toBeGreaterThan(computed - 500)
    }
  })

  /** Operations whose executor must not lose, and what was in the state before. */
  const cases: Record<string, () => Sent[]> = {
    'an account in use': () => [
      {
        op: world.operation(accountAt(8), quiet),
        before: { authority: 'absent', hasDeposit: true },
      },
    ],
    'an account that pays out of its balance': () => [
      {
        op: world.operation(accountAt(4), writes([[1, 1]]), { callGasLimit: 160_000n }),
        before: { authority: 'absent', hasDeposit: false },
      },
    ],
    'three of them together': () =>
      [4, 5, 6].map((i) => ({
        op: world.operation(accountAt(i), writes([[i, 1]]), { callGasLimit: 160_000n }),
      })),
    'a sponsored one': () => [
      {
        op: world.operation(accountAt(4), writes([[1, 1]]), {
          callGasLimit: 160_000n,
          paymaster: PAYMASTER,
          paymasterVerificationGasLimit: 100_000n,
          paymasterPostOpGasLimit: 60_000n,
        }),
      },
    ],
    'the first nonce of a key': () => [
      {
        op: world.operation(accountAt(8), quiet, { nonce: 77n << 64n }),
        before: { authority: 'absent', hasDeposit: true },
      },
    ],
  }

  test.each(forks)('on %s lose nothing, with any payer', (fork) => {
    world.enter(fork)
    for (const [name, make] of Object.entries(cases)) {
      const sent = make()
      const priced = sent.map(({ op, before }) => {
        return { op: paid(world, op, sent.length, before), before }
      })
      const { success, outcomes, gain } = gainOf(world, priced)
      expect(success, `${name}`).toBe(true)
      expect(outcomes, name).toHaveLength(sent.length)
      expect(gain, `${name}: gain`).toBeGreaterThanOrEqual(0n)
    }
  })

  test('refills of state gas by one operation bring nobody gas of another', () => {
    world.enter('amsterdam')
    const random = createRandom(SEED)
    const sends = 60
    let ran = 0
    for (let i = 0; i < sends; i++) {
      const count = 2 + random.below(3)
      const chosen = Array.from({ length: count }, (_, at) => 4 + ((i + at) % 8))
      const priced = chosen.map((index) => {
        const callGasLimit = BigInt(40_000 + random.below(500_000))
        const op = world.operation(accountAt(index), writes(pairsOf(random)), { callGasLimit })
        const before: StateBefore = { authority: 'absent', hasDeposit: index >= 8 }
        return { op: paid(world, op, count, before), before }
      })
      const { success, outcomes, gain, gas } = gainOf(world, priced)
      const text = `seed ${SEED}, bundle ${i}`
      expect(success, text).toBe(true)
      expect(gas, text).toBeLessThanOrEqual(2 ** 24)
      expect(gain, text).toBeGreaterThanOrEqual(0n)
      ran += outcomes.filter((outcome) => outcome.success).length
    }
    expect(ran).toBeGreaterThan(sends)
  })
})

/** Slots filled and freed, few of them, so that operations meet those of others. */
function pairsOf(random: Random): (readonly [number, number])[] {
  return Array.from(
    { length: 1 + random.below(5) },
    () => [random.below(4), random.below(2)] as const,
  )
}

describe.each(['0.8', '0.9'] as const)(
  'keys that become accounts, on EntryPoint v%s',
  (version) => {
    const key = numberToHex(0xabc123n, { size: 32 })
    const owner = privateKeyToAccount(key)
    const sender = owner.address.toLowerCase() as Address
    let world: ForkWorld

    beforeAll(() => {
      world = new ForkWorld(version)
      world.place(accountAt(0))
      world.placeCode(accountAt(31), PASSING_ACCOUNT)
      world.deposit(sender, 10n ** 20n)
      const first = world.operation(accountAt(0), quiet, { callGasLimit: 30_000n })
      expect(world.handle([first], { keeps: true }).success).toBe(true)
    })

    const operation = async (nonce: number): Promise<Operation> => {
      const signed = await owner.signAuthorization({
        chainId: 31_337,
        address: accountAt(31),
        nonce,
      })
      return world.operation(sender, '0x', {
        factory: '0x7702000000000000000000000000000000000000',
        verificationGasLimit: 300_000n,
        callGasLimit: 30_000n,
        authorization: {
          chainId: 31_337,
          address: accountAt(31),
          nonce: BigInt(nonce),
          yParity: signed.yParity as 0 | 1,
          r: signed.r,
          s: signed.s,
        },
      })
    }

    test.each(forks)('on %s lose nothing, and take nobody down', async (fork) => {
      const authorities = ['absent', 'plain', 'delegated'] as const
      for (const authority of authorities) {
        const fresh = new ForkWorld(version)
        world = fresh
        fresh.place(accountAt(0))
        fresh.placeCode(accountAt(31), PASSING_ACCOUNT)
        fresh.deposit(sender, 10n ** 20n)
        fresh.enter('osaka')
        const first = fresh.operation(accountAt(0), quiet, { callGasLimit: 30_000n })
        fresh.handle([first], { keeps: true })
        if (authority === 'plain') fresh.fund(sender, 1n)
        if (authority === 'delegated') {
          const delegating = await operation(0)
          gainOf(fresh, [{ op: delegating }], { authorized: [delegating], keeps: true })
        }
        fresh.enter(fork)
        const before: StateBefore = { authority, hasDeposit: true }
        const op = await operation(authority === 'delegated' ? 1 : 0)
        const alone = { op: paid(fresh, op, 1, before), before }
        const sent = gainOf(fresh, [alone], { authorized: [op] })
        expect(sent.success, `${authority} alone`).toBe(true)
        expect(sent.outcomes, `${authority} alone`).toHaveLength(1)
        expect(sent.gain, `${authority} alone`).toBeGreaterThanOrEqual(0n)
        const other: Sent = {
          op: paid(fresh, fresh.operation(accountAt(0), quiet, { callGasLimit: 30_000n }), 2, {
            authority: 'absent',
            hasDeposit: true,
          }),
          before: { authority: 'absent', hasDeposit: true },
        }
        const both = [other, { op: paid(fresh, op, 2, before), before }]
        const shared = gainOf(fresh, both, { authorized: [op] })
        expect(shared.success, `${authority} behind another`).toBe(true)
        expect(shared.gain, `${authority} behind another`).toBeGreaterThanOrEqual(0n)
      }
    })
  },
)

describe('the table of gas by fork', () => {
  test('says what the EIPs say', () => {
    const osaka = forkGas('0.8', ['osaka'])
    const amsterdam = forkGas('0.8', ['amsterdam'])
    expect([osaka.transaction, amsterdam.transaction]).toEqual([21_000, 15_000])
    expect([amsterdam.floorZeroByte, amsterdam.floorByte]).toEqual([64, 64])
    expect(osaka.authorization).toEqual({ absent: 25_000, plain: 25_000, delegated: 25_000 })
    expect(amsterdam.authorization).toEqual({ absent: 235_606, plain: 52_006, delegated: 16_816 })
    expect([osaka.newDeposit, amsterdam.newDeposit]).toEqual([0, 97_920])
    expect(amsterdam.bundleCap).toBe(2 ** 24)
  })

  test('of two forks has what is enough for both', () => {
    const both = forkGas('0.8', ['osaka', 'amsterdam'])
    expect(both.transaction).toBe(21_000)
    expect(both.authorization.absent).toBe(235_606)
    expect(both.overhead.fixed).toBe(forkGas('0.8', ['amsterdam']).overhead.fixed)
    expect(both.meteredWithRefund).toBe(forkGas('0.8', ['amsterdam']).meteredWithRefund)
    expect(both.bundleCap).toBe(2 ** 24)
  })

  test('is the only place of these numbers', () => {
    // Two that are no price: gas of the EntryPoint's own work, metered, beyond the limits of an operation.
    const others = /BEYOND_(LIMITS|POST_OP_LIMIT) = /
    const numbers =
      /\b(21_?000|25_?000|12_?500|19_?900|2_?900|235_?606|183_?600|97_?920|35_?190|7_?816|52_?006)n?\b/
    const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(
        (file) =>
          file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('evm/gasCosts'),
      )
      .flatMap((file) =>
        readFileSync(`src/${file}`, 'utf8')
          .split('\n')
          .filter(
            (line) => numbers.test(line) && !others.test(line) && !/^\s*(\*|\/\*|\/\/)/.test(line),
          )
          .map((line) => `${file}: ${line.trim()}`),
      )
    expect(found).toEqual([])
  })
})
