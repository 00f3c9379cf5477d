import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainOperation } from '../../test/support/operations/plainOperation.js'
import type { Operation } from '../erc4337/operation.js'
import type { GasMeasurement } from './engine.js'
import type { CallEnd, Extent } from './inProcess/observeOperation.js'
import { smallestLimit } from './inProcess/smallestLimit.js'
import { type MeasuredRun, measureSteps, type TrialLimits, withLimits } from './measureSteps.js'

/* An EntryPoint by its arithmetic alone: what it takes itself, its check of the limit, and a call inside the account's. */

const bounds = { call: 16_000_000n, verification: 5_000_000n }
const op = plainOperation({
  preVerificationGas: 50_000n,
  maxFeePerGas: 1n,
  callData: '0x12345678',
})

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
  /** gas of verification in the prefund from which that is more than its deposit, so that it pays; absent: only ample limits */
  readonly paysFrom?: bigint
  /** gas that verification may do without, which it swallows where its limit is too little */
  readonly optional: number
  /** gas that must be left over of the limit for that: a call passes on 63 64ths of what there is (EIP-150) */
  readonly spare: number
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
      spare: fc.constant(0),
    })
    .map((each) => ({ ...each, inside: Math.floor(each.inside * (each.call - each.warm)) }))
}

function leastCall({ call, inside }: Costs): bigint {
  return BigInt(Math.max(call, inside + Math.ceil(inside / 63)))
}

/** gas of a payment to the EntryPoint */
const PAYMENT = 8_000

/** The account has a deposit, so only a large prefund makes it pay. */
function pays(each: Costs, trial: Operation): boolean {
  const { paysFrom = each.warm > 0 ? bounds.verification : undefined } = each
  if (trial.maxFeePerGas === 0n || paysFrom === undefined) return false
  const prefunded = trial.verificationGasLimit + trial.preVerificationGas - op.preVerificationGas
  return prefunded >= paysFrom
}

function asPaid(each: Costs): Costs {
  return { ...each, call: each.call - each.warm, account: each.account + PAYMENT }
}

/** What the EntryPoint compares with the limit, and the least limit with which nothing is swallowed. */
function checkedGas({ account, before }: Costs): number {
  return account + before
}

function leastVerification(each: Costs): bigint {
  return BigInt(checkedGas(each) + each.spare)
}

/** A call that swallowed another one does without an access to state at least. */
function endOfCall(each: Costs, { callGasLimit }: Operation, reportsNeed: boolean): CallEnd {
  const need = reportsNeed ? { gasNeeded: Number(leastCall(each)) } : {}
  const whole = { success: true, gasUsed: each.call, revertData: '0x', ...need } as const
  if (callGasLimit >= leastCall(each)) return whole
  const gasUsed = Math.min(Number(callGasLimit), each.call - 100)
  return { ...whole, success: each.swallows, gasUsed }
}

/** What runs report, besides what everybody sees: what the call needed; what the EntryPoint's checks compare, and asks for. */
type Reported = { readonly need?: boolean; readonly checks?: boolean; readonly version?: '0.6' }

function runOf(
  costs: Costs,
  trial: Operation,
  extent: Extent,
  { need = false, checks = false, version }: Reported,
): MeasuredRun {
  const isPaying = pays(costs, trial)
  const paid = isPaying ? asPaid(costs) : costs
  const spared = trial.verificationGasLimit < leastVerification(paid) ? paid.optional : 0
  const each = { ...paid, account: paid.account - spared }
  const { validation, around } = each.paymaster ?? { validation: 0, around: 0 }
  const paymasterCheck = validation + around
  const least = checkedGas(each)
  const isValid =
    trial.verificationGasLimit >= least && trial.paymasterVerificationGasLimit >= paymasterCheck
  const preOpGas = BigInt(least + paymasterCheck + each.after) + trial.preVerificationGas
  const isCalled = isValid && extent === 'execution'
  // v0.6 also reads its gas before its check.
  const accountCheck = version === '0.6' ? each.account : least
  const missingAccountFunds = isPaying ? 1n : 0n
  return {
    success: isValid,
    output: new Uint8Array(),
    observed: {
      accountData: 0n,
      paymasterData: undefined,
      refused: undefined,
      accountGas: each.account,
      paymasterGas: validation,
      ...(checks && { accountCheck, missingAccountFunds }),
      ...(checks && each.paymaster && { paymasterCheck }),
      validated: isValid ? { preOpGas, prefund: 1n, contextSize: 0 } : undefined,
      call: isCalled ? endOfCall(each, trial, need) : undefined,
      postOp: undefined,
    },
  }
}

function measure(each: Costs, ownCall?: bigint, reported: Reported = {}) {
  let runs = 0
  const entryPoint = { hasPaymasterLimits: reported.version !== '0.6' } as Parameters<
    typeof measureSteps
  >[0]['entryPoint']
  const measured = each.paymaster ? { ...op, paymaster: `0x${'22'.repeat(20)}` as const } : op
  const run = (limits: TrialLimits, extent: Extent) => {
    runs++
    return runOf(each, withLimits(entryPoint, measured, limits), extent, reported)
  }
  const refuse = () => {
    throw new Error('refused')
  }
  const steps = measureSteps({ entryPoint, op: measured, refuse }, { ...bounds, ownCall })
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    const answer =
      value.kind === 'run'
        ? run(value.limits, value.extent)
        : smallestLimit(value, (limit) =>
            value.suffices(run(value.limitsAt(limit), value.extent).observed, limit),
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

const swallowed = fc.record({
  optional: fc.integer({ min: 100, max: 20_000 }),
  spare: fc.integer({ min: 0, max: 3_000 }),
})

/** All that our EVM sees, in each kind of EntryPoint, and what a node shows. */
const views: [name: string, reported: Reported, runs: number][] = [
  ['our EVM', { need: true, checks: true }, 2],
  ['our EVM, v0.6', { need: true, checks: true, version: '0.6' }, 2],
  ['a node', {}, 3],
]

test.each(views)('limits suffice and lie close above the least (%s)', (_, reported, most) =>
  fc.assert(
    fc.property(costs(250_000), (each) => {
      const { gas, runs } = measure(each, undefined, reported)
      expectLimits(gas, each)
      expect(runs).toBe(most)
    }),
  ),
)

test('where a run reports what its call needed, any call takes as few runs', () =>
  fc.assert(
    fc.property(costs(10_000_000), (each) => {
      for (const checks of [true, false]) {
        const { gas, runs } = measure(each, undefined, { need: true, checks })
        expectLimits(gas, each)
        expect(runs).toBe(checks ? 2 : 3)
      }
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

test.each([...views, ['a node that shows the need', { need: true }, 3] as const])(
  'an account that pays only under ample limits gets what its call needs when it does not (%s)',
  (_, reported) =>
    fc.assert(
      fc.property(
        costs(250_000, 900).filter(({ warm }) => warm > 64),
        fc.option(swallowed, { nil: undefined }),
        (costs, optional) => {
          const each = { ...costs, ...optional }
          const { gas, runs } = measure(each, undefined, reported)
          expectLimits(gas, each)
          if (optional === undefined) expect(runs).toBeLessThanOrEqual(6)
        },
      ),
    ),
)

test.each(views)(
  'an account that pays gets what it needs, whether its verification can swallow a call or not (%s)',
  (_, reported, most) =>
    fc.assert(
      fc.property(
        costs(250_000, 900),
        fc.option(swallowed, { nil: undefined }),
        (costs, optional) => {
          const each = { ...costs, ...optional, paysFrom: 0n }
          const { gas, runs } = measure(each, undefined, reported)
          expectLimits(gas, asPaid(each))
          if (optional === undefined) expect(runs).toBe(most)
        },
      ),
    ),
)

test.each(views)(
  'an account whose deposit lacks only what an estimate adds gets what it needs to pay (%s)',
  (_, reported) =>
    fc.assert(
      fc.property(costs(250_000), fc.integer({ min: 65, max: 12_000 }), (each, above) => {
        const least = leastVerification(each)
        const paysFrom = least + BigInt(above)
        const { gas } = measure({ ...each, paysFrom }, undefined, reported)
        expectLimits(gas, asPaid(each))
      }),
    ),
)

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
        swallowed,
        (costs, paymaster, optional) => {
          const each = { ...costs, ...optional, paymaster }
          const { gas } = measure(each, undefined, { checks })
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
