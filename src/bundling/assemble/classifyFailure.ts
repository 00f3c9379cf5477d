import { readNonce } from '../../chain/entryPointReads.js'
import type { BlockId, Head } from '../../chain/head.js'
import { readAtHead } from '../../chain/nodeReads.js'
import type { EntryPoint, Failure } from '../../entrypoint/entryPoint.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import { describeFailure, describeNonce } from '../../validation/describeFailure.js'
import type { BundlingContext } from '../bundlingContext.js'
import { searchInclusion } from '../settle/searchInclusion.js'
import { settleFound } from '../settle/settleReceipts.js'

/** Milliseconds that an operation may wait for one with a lower nonce. */
const PREDECESSOR_GRACE = 60_000

/**
 * The drop, with its reason, of an operation that fails alone; undefined when it stays in the pool: it
 * was included by someone else, waits for a lower nonce, or is not due yet.
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
    case 'AA27':
    case 'AA32':
    case 'AA37': {
      const { validUntil, validUntilBlock } = stored
      const hasExpired =
        (validUntil > 0 && validUntil <= head.timestamp) ||
        (validUntilBlock > 0n && validUntilBlock <= head.number)
      return hasExpired
        ? { hash, code, reason: `${failure.message}: ${expiry(stored, head)}` }
        : undefined
    }
    case 'AA21':
    case 'AA31': {
      const { node } = context
      const { message } = await describeFailure(node, entryPoint, stored.operation, failure)
      return { hash, code, reason: message }
    }
    default:
      return { hash, code, reason: failure.message }
  }
}

/** AA10 and AA25 are also the codes with which an operation fails that is on the chain already. */
async function classifyNonceFailure(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  { hash, operation, receivedAt }: StoredOperation,
  { code = 'AA25', message }: Failure,
): Promise<Drop | undefined> {
  const { sender, nonce } = operation
  const nonceAt = (block: BlockId) =>
    readNonce(context.node, entryPoint.address, sender, nonce, block)
  const [next, latest] = await Promise.all([readAtHead(head, nonceAt), nonceAt('latest')])
  // A block that the index has not reached has used the nonce, with this operation perhaps.
  if (next <= nonce && latest > nonce) return undefined
  // The account exists already, and this operation did not create it.
  if (code === 'AA10' && next <= nonce) return { hash, code, reason: message }
  if (next === nonce) return undefined
  if (next < nonce && Date.now() - receivedAt.getTime() < PREDECESSOR_GRACE) return undefined
  if (next > nonce) {
    const inclusion = await searchInclusion(context, hash, head.number)
    if (inclusion) {
      await settleFound(context, inclusion)
      return undefined
    }
  }
  const reason = `${message}: ${describeNonce(nonce, next)}`
  return { hash, code, reason, nonceUsed: next > nonce }
}

function expiry({ validUntil, validUntilBlock }: StoredOperation, head: Head): string {
  return validUntil > 0 && validUntil <= head.timestamp
    ? `valid until ${validUntil}, block time ${head.timestamp}`
    : `valid until block ${validUntilBlock}, block ${head.number}`
}
