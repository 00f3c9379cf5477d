import { type RuleException, stakeRules } from '../validationSettings.js'
import type { Party, Violation } from './violation.js'

/** CREATE, INVALID and SELFDESTRUCT: OP-011 bans them for nonces, gas and code, not for what they show. */
const neverWaived = new Set([0xf0, 0xfe, 0xff])

/** The entity whose exception waives a violation: the one that could have a stake, else the one that broke the rule. */
export function answerableFor({ entity, address, stakeNeeded }: Violation): Party {
  return stakeNeeded ?? { role: entity, address }
}

/** The violations that stand, and those that an exception waives at `now` (Unix seconds). */
export function splitWaived(
  violations: readonly Violation[],
  exceptions: readonly RuleException[],
  now: number,
): { readonly violations: readonly Violation[]; readonly waived: readonly Violation[] } {
  const inForce = exceptions.filter(({ until }) => until > now)
  const isWaived = (violation: Violation): boolean => {
    const party = answerableFor(violation)
    return (
      isWaivable(violation) &&
      inForce.some(
        ({ role, address, rules }) =>
          role === party.role &&
          address === party.address &&
          rules.some((rule) => rule === violation.rule),
      )
    )
  }
  return {
    violations: violations.filter((violation) => !isWaived(violation)),
    waived: violations.filter(isWaived),
  }
}

function isWaivable({ rule, opcode, stakeNeeded, byOther }: Violation): boolean {
  if (stakeRules.some((each) => each === rule)) return stakeNeeded !== undefined
  return byOther !== true && !(opcode !== undefined && neverWaived.has(opcode))
}

/** An exception in words, and whether it has ended. */
export function describeException(
  { role, address, rules, reason, until }: RuleException,
  now: number,
): { readonly text: string; readonly hasEnded: boolean } {
  const hasEnded = until <= now
  const end = new Date(until * 1_000).toISOString()
  const may = hasEnded ? 'could break' : 'may break'
  return { text: `${role} ${address} ${may} ${rules.join(', ')} until ${end}: ${reason}`, hasEnded }
}
