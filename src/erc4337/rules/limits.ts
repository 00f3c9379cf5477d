import type { Hex } from 'viem'
import { size } from 'viem/utils'
import type { EntryPoint } from '../entryPoint.js'
import type { Operation } from '../operation.js'
import type { Phase, RuleContext } from './ruleContext.js'
import type { RuleLimits } from './ruleLimits.js'
import { type Party, type Violation, violation } from './violation.js'

/** The limits that need no run: LIM-010, LIM-060, LIM-070. */
export function checkFields(
  entryPoint: EntryPoint,
  op: Operation,
  limits: RuleLimits,
): Violation[] {
  const encoded = entryPoint.encodeOperation(op)
  return [
    ...operationSize(op, encoded, limits),
    ...verificationGas(op, limits),
    ...preVerificationGas(op, encoded, limits),
  ]
}

/** LIM-010: the most bytes of one packed operation. */
function operationSize(op: Operation, encoded: Hex, { maxOperationSize }: RuleLimits): Violation[] {
  const bytes = size(encoded)
  if (bytes <= maxOperationSize) return []
  const field = size(op.callData) >= size(op.factoryData) ? 'callData' : 'factoryData'
  const message = `the operation is ${bytes} bytes long, the limit is ${maxOperationSize}`
  return [violation('LIM-010', account(op), message, { field })]
}

/** LIM-060: both verification limits must be lower than the maximum. */
function verificationGas(op: Operation, { maxVerificationGas }: RuleLimits): Violation[] {
  return verificationLimits(op)
    .filter(({ limit }) => limit >= maxVerificationGas)
    .map(({ party, field, limit }) => {
      const message = `${limit} gas for the ${party.role}'s verification, must be lower than ${maxVerificationGas}`
      return violation('LIM-060', party, message, { field })
    })
}

/** LIM-070: preVerificationGas must cover calldata and the work that the EntryPoint cannot meter. */
function preVerificationGas(op: Operation, encoded: Hex, limits: RuleLimits): Violation[] {
  const required = calldataGas(encoded) + limits.preVerificationOverheadGas
  if (op.preVerificationGas >= required) return []
  const message = `${op.preVerificationGas} gas before verification, must be at least ${required}`
  return [violation('LIM-070', account(op), message, { field: 'preVerificationGas' })]
}

/**
 * LIM-030: verification limits must exceed the gas of validation by the slack. Counted are the calls of
 * the EntryPoint, not the gas that it spends between them.
 */
export function verificationSlack(context: RuleContext, phases: readonly Phase[]): Violation[] {
  const { op, entryPoint, limits } = context
  return verificationLimits(op).flatMap(({ party, field, limit }) => {
    const paidBy = phases.filter(({ name }) =>
      entryPoint.hasPaymasterLimits && name === 'paymaster'
        ? party.role === 'paymaster'
        : party.role === 'account',
    )
    const used = BigInt(paidBy.reduce((sum, { gasUsed }) => sum + gasUsed, 0))
    const required = used + limits.verificationGasSlack
    if (paidBy.length === 0 || limit >= required) return []
    const message = `${limit} gas for the ${party.role}'s verification, which used ${used}: must be at least ${required}`
    return [violation('LIM-030', party, message, { field })]
  })
}

type VerificationLimit = { readonly party: Party; readonly field: string; readonly limit: bigint }

function verificationLimits(op: Operation): VerificationLimit[] {
  const { paymaster, verificationGasLimit, paymasterVerificationGasLimit } = op
  const ofAccount = {
    party: account(op),
    field: 'verificationGasLimit',
    limit: verificationGasLimit,
  }
  if (paymaster === undefined) return [ofAccount]
  const party = { role: 'paymaster', address: paymaster } as const
  const limit = paymasterVerificationGasLimit
  return [ofAccount, { party, field: 'paymasterVerificationGasLimit', limit }]
}

function account({ sender }: Operation): Party {
  return { role: 'account', address: sender }
}

const ZERO_BYTE = 4n
const NON_ZERO_BYTE = 16n

function calldataGas(encoded: Hex): bigint {
  const bytes = Buffer.from(encoded.slice(2), 'hex')
  let zeros = 0
  for (const byte of bytes) if (byte === 0) zeros++
  return BigInt(zeros) * ZERO_BYTE + BigInt(bytes.length - zeros) * NON_ZERO_BYTE
}
