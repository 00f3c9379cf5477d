import type { Hex } from 'viem'
import { greatest, sum } from '../base/bigints.js'
import { readNonce } from '../chain/entryPointReads.js'
import type { StateOverride } from '../chain/ethCall.js'
import { DELEGATION_MARKER } from '../erc4337/delegation.js'
import { depositSlot, nonceSlot } from '../erc4337/encoding/storageLayout.js'
import type { AaCode, EntryPoint, Failure } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { describeFailure, describeNonce } from '../simulation/operationFailure.js'
import type { MempoolContext } from './mempoolContext.js'
import { type Pending, pendingOfSender } from './pool/successors.js'

type SequenceAttempt = { readonly ok: true } | { readonly ok: false; readonly failure: Failure }

/**
 * The result of `attempt` for an operation. When its nonce is too high, `attempt` runs once more as if
 * the account's pending operations with the lower nonces of that key were included: with its nonce
 * raised, and its money reduced by all that its pending operations may take. Their other effects on the
 * account are not known before: an operation that depends on those is refused now, or dropped with a
 * reason when its turn comes. Each nonce from the chain's next one on must be pending. A failure names the numbers
 * behind it.
 */
export async function inSequence<R extends SequenceAttempt>(
  context: Pick<MempoolContext, 'definition' | 'database' | 'node'>,
  entryPoint: EntryPoint,
  op: Operation,
  attempt: (override?: StateOverride) => Promise<R>,
): Promise<{ readonly result: R | { ok: false; failure: Failure }; override?: StateOverride }> {
  const { definition, database, node } = context
  const { sender, nonce } = op
  const described = async (failure: Failure) => ({
    result: { ok: false as const, failure: await describeFailure(node, entryPoint, op, failure) },
  })
  const result = await attempt()
  if (result.ok) return { result }
  if (result.failure.code !== 'AA25') return described(result.failure)

  const refuse = (code: AaCode, message: string) => ({
    result: { ok: false as const, failure: { ...result.failure, code, message } },
  })
  const [next, pending] = await Promise.all([
    readNonce(node, entryPoint.address, sender, nonce),
    pendingOfSender(database, definition.chainId, entryPoint.address, sender),
  ])
  const missing = firstMissing(pending, next, nonce)
  if (next >= nonce) return described(result.failure)
  if (missing !== undefined)
    return refuse(
      'AA25',
      `${result.failure.message}: ${describeNonce(nonce, next)}, and ${missing} is not pending`,
    )
  if (op.factory !== undefined && op.factory !== DELEGATION_MARKER)
    return refuse(
      'AA10',
      'AA10 sender already constructed: a pending operation creates it. Send this one without initCode when that one is included.',
    )

  const selfPaid = pending.filter((other) => other.nonce !== nonce && !other.paymaster)
  const owed = sum(selfPaid.map(({ prefund }) => prefund))
  const override = await stateAfter(context, entryPoint, op, owed)
  const again = await attempt(override)
  if (again.ok) return { result: again, override }
  const { result: refused } = await described(again.failure)
  if (again.failure.code !== 'AA21') return { result: refused, override }
  return refuse(
    'AA21',
    `${refused.failure.message}; pending operations of the account may take ${owed} wei before`,
  )
}

/** The lowest nonce from `next` up to `nonce` with which no operation is pending. */
export function firstMissing(
  pending: readonly Pick<Pending, 'nonce'>[],
  next: bigint,
  nonce: bigint,
): bigint | undefined {
  const pendingNonces = new Set(pending.map((operation) => operation.nonce))
  let candidate = next
  while (candidate < nonce && pendingNonces.has(candidate)) candidate++
  return candidate < nonce ? candidate : undefined
}

/** The rest of an account's money, in wei, when `owed` is taken from its deposit first. */
export function moneyLeft(
  owed: bigint,
  { deposit, balance }: { readonly deposit: bigint; readonly balance: bigint },
): { readonly deposit: bigint; readonly balance: bigint } {
  if (owed <= deposit) return { deposit: deposit - owed, balance }
  return { deposit: 0n, balance: greatest(balance - (owed - deposit), 0n) }
}

const DEPOSIT_MASK = 2n ** 112n - 1n
const SEQUENCE_MASK = 2n ** 64n - 1n

/** The account's nonce and money as its pending operations may leave them. */
async function stateAfter(
  { node }: Pick<MempoolContext, 'node'>,
  { address }: EntryPoint,
  { sender, nonce, paymaster }: Operation,
  owed: bigint,
): Promise<StateOverride> {
  const raisedNonce = { [nonceSlot(sender, nonce)]: word(nonce & SEQUENCE_MASK) }
  if (paymaster !== undefined || owed === 0n) return { [address]: { stateDiff: raisedNonce } }
  const slot = depositSlot(sender)
  const answers = await node.batch([
    { method: 'eth_getStorageAt', params: [address, slot, 'latest'] },
    { method: 'eth_getBalance', params: [sender, 'latest'] },
  ])
  const [stored = 0n, balance = 0n] = answers.map((answer) => {
    if (!answer.ok) throw answer.error
    return BigInt(answer.result as Hex)
  })
  const rest = moneyLeft(owed, { deposit: stored & DEPOSIT_MASK, balance })
  const deposit = (stored & ~DEPOSIT_MASK) | rest.deposit
  return {
    [address]: { stateDiff: { ...raisedNonce, [slot]: word(deposit) } },
    [sender]: { balance: `0x${rest.balance.toString(16)}` },
  }
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}
