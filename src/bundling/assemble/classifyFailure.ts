import { readDeposit, readNonce } from '../../chain/entryPointReads.js'
import type { Head } from '../../chain/head.js'
import { getBalance } from '../../chain/nodeReads.js'
import type { EntryPoint, Failure } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { searchInclusion } from '../settle/searchInclusion.js'
import { settleFound } from '../settle/settleReceipts.js'

/** How long an operation may wait for one with a lower nonce, in milliseconds. */
const PREDECESSOR_GRACE = 60_000

/**
 * Why an operation that fails alone leaves the pool; undefined when it stays: it was included by
 * someone else, waits for a lower nonce, or is not due yet.
 */
export async function classifyFailure(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  { stored, failure }: { stored: StoredOperation; failure: Failure },
): Promise<Drop | undefined> {
  const { hash } = stored
  const code = failure.code ?? 'REVERTED'
  switch (failure.code) {
    case 'AA10':
    case 'AA25':
      return classifyNonceFailure(context, entryPoint, head, stored, failure)
    case 'AA22':
    case 'AA32': {
      const over = stored.validUntil > 0 && stored.validUntil <= head.timestamp
      return over
        ? { hash, code, reason: `${failure.message}: ${timeOver(stored, head)}` }
        : undefined
    }
    case 'AA21':
    case 'AA31': {
      const means = await payersMeans(context, entryPoint, stored.operation)
      return { hash, code, reason: `${failure.message}: ${means}` }
    }
    default:
      return { hash, code, reason: failure.message }
  }
}

/** AA10 and AA25 are also what an operation that is on the chain already fails with. */
async function classifyNonceFailure(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  { hash, operation, receivedAt }: StoredOperation,
  { code = 'AA25', message }: Failure,
): Promise<Drop | undefined> {
  const { sender, nonce } = operation
  const next = await readNonce(context.node, entryPoint.address, sender, nonce)
  // The account exists already, and this operation did not create it.
  if (code === 'AA10' && next <= nonce) return { hash, code, reason: message }
  if (next === nonce) return undefined
  if (next < nonce && Date.now() - receivedAt.getTime() < PREDECESSOR_GRACE) return undefined
  if (next > nonce) {
    const found = await searchInclusion(context, hash, head.number)
    if (found) {
      await settleFound(context, found)
      return undefined
    }
  }
  const reason = `${message}: the operation has nonce ${nonce}, the account is at ${next}`
  return { hash, code, reason, nonceUsed: next > nonce }
}

function timeOver({ validUntil }: StoredOperation, { timestamp }: Head): string {
  return `valid until ${validUntil}, block time ${timestamp}`
}

/** What the payer has and needs, in wei. */
async function payersMeans(
  { node }: BundlingContext,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<string> {
  const needed = entryPoint.requiredPrefund(op)
  const deposit = await readDeposit(node, entryPoint.address, op.paymaster ?? op.sender)
  if (op.paymaster) return `needs ${needed} wei, paymaster ${op.paymaster} has ${deposit} deposited`
  const balance = await getBalance(node, op.sender)
  return `needs ${needed} wei, the account has ${balance} and ${deposit} deposited`
}
