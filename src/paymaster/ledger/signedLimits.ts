import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../../db/database.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { isLiveReservation } from './reservations.js'
import { kindOfTank } from './tanks.js'

const names = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'paymasterVerificationGasLimit',
  'paymasterPostOpGasLimit',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
] as const

/** Gas limits and fees (wei per gas) that a tank's signature covers. */
export type SignedLimits = Readonly<Record<(typeof names)[number], bigint>>

/** The limits as the details of a decision hold them: decimal text. */
export function limitsToStore(op: SignedLimits): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, op[name].toString()]))
}

/** The tank's signature to look for. `delegate`: see `delegateToHash`. */
type SignedQuestion = {
  readonly appId: string
  readonly chainId: number
  readonly entryPoint: EntryPoint
  readonly delegate: Address | undefined
}

/** Decisions of one nonce that are looked at, the newest first. */
const MOST_DECISIONS = 20

/**
 * The limits and fees that a tank has signed for an operation that differs in nothing else; undefined = it has not, or
 * not for this app, or its reservation has ended for good.
 */
export async function findSignedLimits(
  db: Database,
  { appId, chainId, entryPoint, delegate }: SignedQuestion,
  op: Operation,
): Promise<SignedLimits | undefined> {
  const slot = sql`r.chain_id = ${BigInt(chainId)} and r.entry_point = ${entryPoint.address}
    and r.sender = ${op.sender} and r.nonce = ${op.nonce} and r.app_id = ${appId}`
  const { rows } = await sql<{ hash: string; limits: Record<keyof SignedLimits, string> }>`
    select d.user_op_hash as hash, d.details->'limits' as limits
    from (select id from reservations r where ${slot} and r.paymaster = ${op.paymaster}
      and ${isLiveReservation}) as slot
      join decisions d on d.reservation_id = slot.id
    where d.details ? 'limits' order by d.created_at desc limit ${MOST_DECISIONS}`.execute(db)
  return rows
    .map(({ hash, limits }) => ({ hash, limits: readLimits(limits) }))
    .find(({ hash, limits }) => entryPoint.hash({ ...op, ...limits }, chainId, delegate) === hash)
    ?.limits
}

function readLimits(stored: Record<keyof SignedLimits, string>): SignedLimits {
  const read = names.map((name) => [name, BigInt(stored[name])] as const)
  return Object.fromEntries(read) as SignedLimits
}

/** What an operation with a tank's data has different from what the tank signed, in words; undefined = no tank of ours. */
export async function differenceFromSigned(
  db: Database,
  question: SignedQuestion,
  op: Operation,
): Promise<string | undefined> {
  const { chainId, entryPoint } = question
  const { paymaster } = op
  if (paymaster === undefined) return undefined
  if ((await kindOfTank(db, chainId, entryPoint.address, paymaster)) === undefined) return undefined
  const signed = await findSignedLimits(db, question, op)
  if (signed === undefined)
    return 'the paymaster signed another operation. Ask for its data after the last change of sender, nonce, factory or callData'
  return names
    .filter((name) => op[name] !== signed[name])
    .map((name) => `${name} is ${op[name]}, ${signed[name]} was signed`)
    .join('; ')
}
