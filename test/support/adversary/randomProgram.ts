import { type Address, parseEther, parseGwei } from 'viem'
import type { Random } from '../../evm/random.js'
import { acts, type Clause, facts } from './hostile.js'

/** Whom a program may name: other hostile contracts, the EntryPoint, executors. */
export type Subjects = readonly Address[]

/** The newest block: its number, and its time in seconds. */
export type Head = { readonly number: number; readonly timestamp: number }

/** What a program is written for, which decides the acts that are worth trying. */
export type Phase = 'validation' | 'execution' | 'sponsoring' | 'postOp' | 'creation'

const inValidation = [
  'nothing',
  'fail',
  'revert',
  'burnTo',
  'range',
  'write',
  'clear',
  'pad',
] as const

/**
 * A program: often none or, for what is simulated, a trap that springs when the contract's mood is changed
 * after the simulation; else up to three clauses, of which the facts differ by time and place.
 */
export function randomProgram(
  random: Random,
  phase: Phase,
  subjects: Subjects,
  head: Head,
): Clause[] {
  if (random.oneIn(3)) return []
  if (phase !== 'execution' && !random.oneIn(3)) return [trap(random, subjects, head)]
  const length = 1 + random.below(3)
  return Array.from({ length }, () => randomClause(random, phase, subjects, head))
}

function trap(random: Random, subjects: Subjects, head: Head): Clause {
  const act = random.pick(['fail', 'revert', 'burnTo', 'invalid', 'range', 'long', 'pad'] as const)
  const amount = amountOf(random, act, head)
  return { fact: 'mood', argument: 1n, act, amount, subject: random.pick(subjects) }
}

function randomClause(random: Random, phase: Phase, subjects: Subjects, head: Head): Clause {
  const isJudged = phase !== 'execution' && phase !== 'postOp'
  const fact = random.oneIn(2) ? random.pick(['always', 'mood'] as const) : random.pick(facts)
  const act = isJudged && !random.oneIn(4) ? random.pick(inValidation) : random.pick(acts)
  return {
    fact,
    act,
    argument: argumentOf(random, fact),
    amount: amountOf(random, act, head),
    subject: random.pick(subjects),
  }
}

function argumentOf(random: Random, fact: Clause['fact']): bigint {
  switch (fact) {
    case 'gasBelow':
      return BigInt(20_000 + random.below(1_000_000))
    case 'ownBalanceBelow':
    case 'balanceBelow':
      return parseEther(String(random.below(10)))
    case 'baseFeeBelow':
    case 'gasPriceBelow':
      return parseGwei(String(random.below(4)))
    default:
      return BigInt(random.below(2))
  }
}

function amountOf(random: Random, act: Clause['act'], head: Head): bigint {
  switch (act) {
    case 'revert':
    case 'long':
    case 'memory':
    case 'pad':
      return BigInt(random.pick([0, 32, 1_000, 30_000, 200_000]))
    case 'burnTo':
      return BigInt(random.pick([1_000, 10_000, 50_000, 200_000]))
    case 'range':
      return rangeEnd(random, head)
    case 'setMood':
      return BigInt(random.below(2))
    case 'create':
      return BigInt(random.pick([0, 32]))
    default:
      return BigInt(random.below(64))
  }
}

/** Bit of a time range's ends by which v0.9 counts in block numbers. */
const IN_BLOCKS = 1n << 47n

/** validUntil: some seconds or some blocks behind the head. */
function rangeEnd(random: Random, { number, timestamp }: Head): bigint {
  if (random.oneIn(3)) return IN_BLOCKS | BigInt(number + random.below(20))
  return BigInt(timestamp + random.below(90))
}
