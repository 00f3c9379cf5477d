import { greatest } from '../base/bigints.js'
import { readDeposit, readNonce } from '../chain/entryPointReads.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBalance } from '../chain/nodeReads.js'
import type { EntryPoint, Failure } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/**
 * The failure of an operation with the numbers behind its code: the EntryPoint names none. Money and nonces
 * are those of the latest block. A failure of another kind stays as it is.
 */
export async function describeFailure(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  failure: Failure,
): Promise<Failure> {
  const numbers = await numbersOf(node, entryPoint, op, failure)
  return numbers === undefined ? failure : { ...failure, message: `${failure.message}: ${numbers}` }
}

async function numbersOf(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  { code }: Failure,
): Promise<string | undefined> {
  switch (code) {
    case 'AA21':
    case 'AA31':
      return describeFunds(node, entryPoint, op)
    case 'AA25': {
      const next = await readNonce(node, entryPoint.address, op.sender, op.nonce)
      return describeNonce(op.nonce, next)
    }
    default:
      return undefined
  }
}

/** The nonce of an operation and the next one of its key. */
export function describeNonce(nonce: bigint, next: bigint): string {
  return `the operation has nonce ${nonce}, the account is at ${next}`
}

/** The wei that the payer has, needs and lacks, in words. */
async function describeFunds(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<string> {
  const needed = entryPoint.requiredPrefund(op)
  const deposit = await readDeposit(node, entryPoint.address, op.paymaster ?? op.sender)
  const missing = (money: bigint) => `${greatest(needed - money, 0n)} wei are missing`
  if (op.paymaster)
    return `needs ${needed} wei, paymaster ${op.paymaster} has ${deposit} deposited, ${missing(deposit)}`
  const balance = await getBalance(node, op.sender)
  return `needs ${needed} wei, the account has ${balance} and ${deposit} deposited, ${missing(balance + deposit)}`
}
