import type { SignedAuthorization } from 'viem'
import { readDelegables } from '../../chain/delegations.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import { authorizationEffect } from '../../validation/authorization.js'
import { authorizationOverride } from '../../validation/evmOverrides.js'

/** Operations of a bundle by what the chain would now do with their EIP-7702 authorizations. */
export type SettledAuthorizations = {
  /** In their order; an authorization that is in place already is left out of its operation. */
  readonly ready: readonly StoredOperation[]
  /** The account's nonce has not come to the authorization's yet. */
  readonly early: readonly StoredOperation[]
  readonly drops: Drop[]
}

/**
 * Looks at the senders' nonces and code on the latest block: a tuple that the chain would pass over is
 * not carried. Its operation goes without when the delegation is in place; waits when its nonce is to
 * come; else nothing can make it valid any more and it is dropped, unless it was included meanwhile,
 * which the index finds out.
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
    const standing = authorizationEffect(authorization, account)
    if (standing === 'applies') ready.push(stored)
    else if (standing === 'inPlace') {
      ready.push({ ...stored, operation: { ...operation, authorization: undefined } })
    } else if (standing === 'early') early.push(stored)
    else {
      const reason = `eip7702Auth: it has nonce ${authorization.nonce}, the sender's account is at ${account.nonce} and does not delegate to ${authorization.address}`
      drops.push({ hash, code: 'STALE_AUTHORIZATION', reason })
    }
  }
  return { ready, early, drops }
}

/** The authorization list of the transaction that carries `ops`; empty when none has one. */
export function authorizationsOf(ops: readonly Operation[]): readonly SignedAuthorization[] {
  return ops.flatMap(({ authorization }) =>
    authorization === undefined ? [] : [{ ...authorization, nonce: Number(authorization.nonce) }],
  )
}

/** State in which the authorizations of `ops` have been applied; for nodes that take no list in a call. */
export function delegationOverride(ops: readonly Operation[]): StateOverride | undefined {
  if (ops.every(({ authorization }) => authorization === undefined)) return undefined
  return Object.assign({}, ...ops.map(authorizationOverride))
}
