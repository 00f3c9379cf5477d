import type { Operation } from '../operation.js'
import type { FrameRule, PhaseRule } from './ruleContext.js'
import { type Violation, violation } from './violation.js'

// AUTH-010, one authorization per operation, holds by the shape of `Operation`.

/** AUTH-020: an EIP-7702 account may be an operation's sender and no other entity. */
export const delegatedEntity: PhaseRule = (_, { entity, delegate }) => {
  if (delegate === undefined || entity.role === 'account') return []
  const message = `${entity.role} ${entity.address} is an EIP-7702 account (of ${delegate}); only the sender may be one`
  return [violation('AUTH-020', entity, message, { contract: delegate })]
}

/** AUTH-030: an EIP-7702 account may be called or looked at only if it is the sender. */
export const delegatedAccess: FrameRule = ({ op }, { entity }, frame) =>
  frame.accesses
    .filter(({ address, delegate }) => delegate !== undefined && address !== op.sender)
    .map(({ address, opcode }) => {
      const message = `${entity.role} accesses ${address}, an EIP-7702 account that is not the sender`
      return violation('AUTH-030', entity, message, { opcode, contract: address })
    })

/**
 * AUTH-040: operations of one sender that wait together, on whatever EntryPoint of the chain, and carry authorizations name
 * one delegate.
 */
export function conflictingDelegate(
  { sender, authorization }: Pick<Operation, 'sender' | 'authorization'>,
  pooled: readonly Pick<Operation, 'sender' | 'authorization'>[],
): Violation[] {
  if (authorization === undefined) return []
  const other = pooled.find(
    (op) =>
      op.sender === sender &&
      op.authorization !== undefined &&
      op.authorization.address !== authorization.address,
  )
  if (other === undefined) return []
  const message = `account delegates to ${authorization.address}, its pending operation to ${other.authorization!.address}`
  const account = { role: 'account', address: sender } as const
  return [violation('AUTH-040', account, message, { contract: authorization.address })]
}
