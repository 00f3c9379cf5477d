import { PurserError } from './purserError.js'

/** A policy that a user wrote is invalid; `field` is the path of the wrong member. */
export class InvalidPolicyError extends PurserError {
  override readonly name = 'InvalidPolicyError'
  constructor(field: string, reason: string) {
    super(`${field === '' ? 'policy' : field}: ${reason}`, {
      code: -32602,
      status: 400,
      data: { field },
    })
  }
}

/** No such policy, or it belongs to another account, which the caller must not learn. */
export class PolicyNotFoundError extends PurserError {
  override readonly name = 'PolicyNotFoundError'
  constructor() {
    super('Policy not found', { code: -32004, status: 404 })
  }
}
