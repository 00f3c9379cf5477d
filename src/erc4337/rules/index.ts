/** ERC-7562: from the record of one validation run to a verdict. Pure, no I/O. */
export type { AccessedStorage, SlotSets } from './accessedStorage.js'
export { applyRules, type Evidence, type Verdict } from './applyRules.js'
export { conflictingDelegate } from './auth.js'
export { answerableFor, describeException, splitWaived } from './exceptions.js'
export { type EntityGas, gasInBundle, gasOfStaked, savers, validationsIn } from './bundleGas.js'
export { type CodeHashes, changedCode, type VisitedCode } from './code.js'
export { checkFields } from './limits.js'
export { changedContext, checkContext, refusedPadding } from './paymasterContext.js'
export { limitProfiles, MAX_BUNDLE_CONTEXTS, type RuleLimits } from './ruleLimits.js'
export {
  countsAsStaked,
  isStaked,
  type StakeInfo,
  type StakePolicy,
  type Stakes,
} from './stakes.js'
export { toViolationError } from './toViolationError.js'
export type { EntityRole, Party, RuleId, Violation } from './violation.js'
