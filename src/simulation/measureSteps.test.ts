import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainOperation } from '../../test/support/operations/plainOperation.js'
import type { GasMeasurement } from './engine.js'
import type { CallEnd, Extent } from './inProcess/observeOperation.js'
import { smallestLimit } from './inProcess/smallestLimit.js'
import { type MeasuredRun, measureSteps, type TrialLimits } from './measureSteps.js'

/* An EntryPoint by its arithmetic alone: what it takes itself, its check of the limit, and a call inside the account's. */

const bounds = { call: 16_000_000n, verification: 5_000_000n }
const op = plainOperation({ preVerificationGas: 50_000n, callData: '0x12345678' })

type Costs = {
  /** gas of the account's validation */
  readonly account: number
  /** gas of the EntryPoint before its check of verificationGasLimit, and after it */
  readonly before: number
  readonly after: number
  /** gas of the call, and of the calls inside of it, of which it must leave a 63rd over (EIP-150) */
  readonly call: number
  readonly inside: number
  /** gas less that the call takes where the account has paid the prefund before, and so touched what its call touches */
  readonly warm: number
  /** Whether the call succeeds, and does less, where its gas is too little */
  readonly swallows: boolean
  /** The limit of verification from which the prefund is more than its deposit, so that it pays; absent: only ample ones */
  readonly paysFrom?: bigint
  /** gas that verification may do without, which it swallows where its limit is too little */
  readonly optional: number
  /** gas of the paymaster's validation, and of the EntryPoint around it within its limit; undefined: there is no paymaster */
  readonly paymaster?: { readonly validation: number; readonly around: number } | undefined
}

function costs(mostCall: number, mostWarm = 0): fc.Arbitrary<Costs> {
  return fc
    .record({
      account: fc.integer({ min: 30_000, max: 3_000_000 }),
      before: fc.integer({ min: 8_000, max: 40_000 }),
      after: fc.integer({ min: 0, max: 400 }),
      call: fc.integer({ min: 1_000, max: mostCall }),
      inside: fc.double({ min: 0, max: 1, noNaN: true }),
      warm: fc.integer({ min: 0, max: mostWarm }),
      swallows: fc.boolean(),
      optional: fc.constant(0),
    })
    .map((each) => ({ ...each, inside: Math.floor(each.inside * (each.call - each.warm)) }))
}

function leastCall({ call, inside }: Costs): bigint {
  return BigInt(Math.max(call, inside + Math.ceil(inside / 63)))
}

/** gas of a payment to the EntryPoint */
const PAYMENT = 8_000

/** The account has a deposit, so only large limits of an operation with fees make it pay. */
function asPaid(each: Costs, { isFree, verification }: TrialLimits): Costs {
  const { paysFrom = each.warm > 0 ? bounds.verification : undefined } = each
  if (isFree || paysFrom === undefined || verification < paysFrom) return each
  return { ...each, call: each.call - each.warm, account: each.account + PAYMENT }
}

function leastVerification({ account, before }: Costs): bigint {
  return BigInt(account + before)
}

/** A call that swallowed another one does without an access to state at least. */
function endOfCall(each: Costs, limits: TrialLimits, reportsNeed: boolean): CallEnd {
  const need = reportsNeed ? { gasNeeded: Number(leastCall(each)) } : {}
  const whole = { success: true, gasUsed: each.call, revertData: '0x', ...need } as const
  if (limits.call >= leastCall(each)) return whole
  const gasUsed = Math.min(Number(limits.call), each.call - 100)
  return { ...whole, success: each.swallows, gasUsed }
}

/** What runs report, besides what everybody sees: what the call needed, what the EntryPoint's checks compare. */
type Reported = { readonly need?: boolean; readonly checks?: boolean }

function runOf(
  costs: Costs,
  limits: TrialLimits,
  extent: Extent,
  { need = false, checks = false }: Reported,
): MeasuredRun {
  const paid = asPaid(costs, limits)
  const spared = limits.verification < leastVerification(paid) ? paid.optional : 0
  const each = { ...paid, account: paid.account - spared }
  const { validation, around } = each.paymaster ?? { validation: 0, around: 0 }
  const paymasterCheck = validation + around
  const accountCheck = Number(leastVerification(each))
  const isValid =
    limits.verification >= accountCheck && limits.paymasterVerification >= paymasterCheck
  const preOpGas = BigInt(accountCheck + paymasterCheck + each.after) + op.preVerificationGas
  const isCalled = isValid && extent === 'execution'
  return {
    success: isValid,
    output: new Uint8Array(),
    observed: {
      accountData: 0n,
      paymasterData: undefined,
      refused: undefined,
      accountGas: each.account,
      paymasterGas: validation,
      ...(checks && { accountCheck, paymasterCheck }),
      validated: isValid ? { preOpGas, prefund: 1n, contextSize: 0 } : undefined,
      call: isCalled ? endOfCall(each, limits, need) : undefined,
      postOp: undefined,
    },
  }
}

function measure(each: Costs, ownCall?: bigint, reported: Reported = {}) {
  let runs = 0
  const run = (limits: TrialLimits, extent: Extent) => {
    runs++
    return runOf(each, limits, extent, reported)
  }
  const refuse = () => {
    throw new Error('refused')
  }
  const entryPoint = { hasPaymasterLimits: true } as Parameters<
    typeof measureSteps
  >[0]['entryPoint']
  const measured = each.paymaster ? { ...op, paymaster: `0x${'22'.repeat(20)}` as const } : op
  const steps = measureSteps({ entryPoint, op: measured, refuse }, { ...bounds, ownCall })
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    const answer =
      value.kind === 'run'
        ? run(value.limits, value.extent)
        : smallestLimit(value, (limit) =>
            value.suffices(run(value.limitsAt(limit), value.extent).observed),
          )
    step = steps.next(answer)
  }
  if (step.value.outcome !== 'measured') throw new Error(step.value.outcome)
  return { gas: step.value.gas, runs }
}

function expectClose(limit: bigint, least: bigint): void {
  expect(limit).toBeGreaterThanOrEqual(least)
  expect(limit).toBeLessThanOrEqual(least + least / 64n + 65n)
}

function expectLimits({ callGasLimit, verificationGasLimit }: GasMeasurement, each: Costs): void {
  expectClose(callGasLimit, leastCall(each))
  expectClose(verificationGasLimit, leastVerification(each))
}

test('limits suffice and lie close above the least, after three runs', () =>
  fc.assert(
    fc.property(costs(250_000), (each) => {
      const { gas, runs } = measure(each)
      expectLimits(gas, each)
      expect(runs).toBe(3)
    }),
  ))

test('where a run reports what its call needed, any call takes three runs', () =>
  fc.assert(
    fc.property(costs(10_000_000), (each) => {
      const { gas, runs } = measure(each, undefined, { need: true })
      expectLimits(gas, each)
      expect(runs).toBe(3)
    }),
  ))

test('a large call that passes nearly all its gas on takes a few runs more', () =>
  fc.assert(
    fc.property(costs(10_000_000), (each) => {
      const { gas, runs } = measure(each)
      expectLimits(gas, each)
      expect(runs).toBeLessThanOrEqual(5)
    }),
  ))

test.each([true, false])(
  'an account that pays only under ample limits gets what its call needs when it does not (need known: %s)',
  (reportsNeed) =>
    fc.assert(
      fc.property(
        costs(250_000, 900).filter(({ warm }) => warm > 64),
        (each) => {
          const { gas, runs } = measure(each, undefined, { need: reportsNeed })
          expectLimits(gas, each)
          expect(runs).toBeLessThanOrEqual(6)
        },
      ),
    ),
)

test('an account whose deposit lacks only what an estimate adds gets what it needs to pay', () =>
  fc.assert(
    fc.property(costs(250_000), fc.integer({ min: 65, max: 12_000 }), (each, above) => {
      const least = leastVerification(each)
      const { gas } = measure({ ...each, paysFrom: least + BigInt(above) }, undefined, {
        need: true,
      })
      expect(gas.verificationGasLimit).toBeGreaterThanOrEqual(least + BigInt(PAYMENT))
    }),
  ))

const paymasters = fc.record({
  validation: fc.integer({ min: 2_000, max: 1_000_000 }),
  around: fc.integer({ min: 500, max: 12_000 }),
})

test.each([
  [true, 2],
  [false, 40],
])(
  'each limit of a sponsored operation is close above its least (checks seen: %s)',
  (checks, most) =>
    fc.assert(
      fc.property(costs(250_000), paymasters, (each, paymaster) => {
        const { gas, runs } = measure({ ...each, paymaster }, undefined, { checks })
        expectLimits(gas, each)
        const { validation, around } = paymaster
        expectClose(gas.paymasterVerificationGasLimit, BigInt(validation + around))
        expect(runs).toBeLessThanOrEqual(most)
      }),
    ),
)

test.each([true, false])(
  'verification that swallows a call gets what it needs without doing so (checks seen: %s)',
  (checks) =>
    fc.assert(
      fc.property(
        costs(250_000),
        fc.option(paymasters, { nil: undefined }),
        fc.integer({ min: 100, max: 20_000 }),
        (each, paymaster, optional) => {
          const { gas } = measure({ ...each, paymaster, optional }, undefined, { checks })
          expectLimits(gas, each)
        },
      ),
    ),
)

test("the client's own limit of the call is the answer where it suffices", () =>
  fc.assert(
    fc.property(costs(250_000), fc.integer({ min: 0, max: 60 }), (each, above) => {
      const own = leastCall(each) + BigInt(above)
      const found = measure(each).gas.callGasLimit
      const { gas, runs } = measure(each, own)
      expect(gas.callGasLimit).toBe(own < found ? own : found)
      expectClose(gas.verificationGasLimit, leastVerification(each))
      expect(runs).toBeLessThanOrEqual(4)
    }),
  ))
