import type { SignedAuthorization } from 'viem'
import { readDelegables } from '../../chain/delegations.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import { authorizationEffect } from '../../validation/authorization.js'
import { authorizationOverride } from '../../validation/evmOverrides.js'

/** Operations of a bundle, sorted by the effect that their EIP-7702 authorizations would have now. */
export type SettledAuthorizations = {
  /** Operations in their order; an authorization that is in place already is left out. */
  readonly ready: readonly StoredOperation[]
  /** Operations whose accounts have not reached the nonce of the authorization yet. */
  readonly early: readonly StoredOperation[]
  readonly drops: Drop[]
}

/**
 * Compares authorizations with the senders' nonces and code on the latest block: a bundle carries no
 * tuple that the chain would skip. An operation goes without its tuple when the delegation is in place,
 * and waits when the nonce of the tuple is to come. Otherwise the tuple can never be valid again and the
 * operation is dropped, unless it was included meanwhile, which the index finds out.
 */
export async function settleAuthorizations(
  node: NodeClient,
  operations: readonly StoredOperation[],
): Promise<SettledAuthorizations> {
  const ready: StoredOperation[] = []
  const early: StoredOperation[] = []
  const drops: Drop[] = []
  const delegating = operations.filter(({ operation }) => operation.authorization !== undefined)
  const senders = delegating.map(({ operation }) => operation.sender)
  const accounts = await readDelegables(node, senders)
  for (const stored of operations) {
    const { hash, operation } = stored
    const { authorization } = operation
    const account = accounts[delegating.indexOf(stored)]
    if (authorization === undefined || account === undefined) {
      ready.push(stored)
      continue
    }
    const effect = authorizationEffect(authorization, account)
    if (effect === 'applies') ready.push(stored)
    else if (effect === 'inPlace') {
      ready.push({ ...stored, operation: { ...operation, authorization: undefined } })
    } else if (effect === 'early') early.push(stored)
    else {
      const reason = `eip7702Auth: it has nonce ${authorization.nonce}, the sender's account is at ${account.nonce} and does not delegate to ${authorization.address}`
      drops.push({ hash, code: 'STALE_AUTHORIZATION', reason })
    }
  }
  return { ready, early, drops }
}

/** The authorization list of the transaction that carries `ops`; empty when no operation has one. */
export function authorizationsOf(ops: readonly Operation[]): readonly SignedAuthorization[] {
  return ops.flatMap(({ authorization }) =>
    authorization === undefined ? [] : [{ ...authorization, nonce: Number(authorization.nonce) }],
  )
}

/** The state after the authorizations of `ops`; for nodes that take no authorization list in a call. */
export function delegationOverride(ops: readonly Operation[]): StateOverride | undefined {
  if (ops.every(({ authorization }) => authorization === undefined)) return undefined
  return Object.assign({}, ...ops.map(authorizationOverride))
}
