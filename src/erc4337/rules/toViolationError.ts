import { numberToHex } from 'viem/utils'
import { OperationLimitError } from '../../base/errors/operationErrors.js'
import type { PurserError } from '../../base/errors/purserError.js'
import { RuleViolationError, StakeTooLowError } from '../../base/errors/ruleErrors.js'
import type { StakePolicy } from './stakes.js'
import type { Violation } from './violation.js'

/**
 * The error for a broken rule: -32602 where a field of the operation must change, else -32502, with
 * the minimum stake where a stake would have allowed the use of storage or the context.
 */
export function toViolationError(violation: Violation, policy: StakePolicy): PurserError {
  const { rule, entity, address, opcode, slot, contract, field, stakeNeeded, message } = violation
  if (field !== undefined) return new OperationLimitError(field, message, rule)
  const place = {
    entity,
    address,
    ...(opcode !== undefined && { opcode: numberToHex(opcode) }),
    ...(slot !== undefined && { slot }),
    ...(contract !== undefined && { contract }),
  }
  return stakeNeeded !== undefined && opcode === undefined
    ? new StakeTooLowError({ message, rule, place, ...policy }, stakeNeeded)
    : new RuleViolationError({ message, rule, place })
}
