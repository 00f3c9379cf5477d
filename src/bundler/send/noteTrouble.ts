import type { Address } from 'viem'
import { SignerUnavailableError } from '../../base/errors/processErrors.js'
import { NodeRpcError } from '../../chain/nodeErrors.js'
import type { BundlingContext } from '../bundlingContext.js'

/**
 * Logs that a key which cannot sign, or a request that the node refused, keeps one executor or tank from going on: the others
 * do. `problems.end` of the same problem ends it. Throws any other error again.
 */
export function noteTrouble(
  { problems }: Pick<BundlingContext, 'problems'>,
  problem: string,
  whose: { readonly executor: Address } | { readonly tank: Address },
  error: unknown,
): void {
  if (!(error instanceof NodeRpcError || error instanceof SignerUnavailableError)) throw error
  const subject = 'executor' in whose ? whose.executor : whose.tank
  problems.error(subject, problem, { ...whose, reason: error.message })
}
