import { type Kysely, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { OperationState, Schema } from './schema.js'

/** What the pool holds that an admission must know, all in one chain and EntryPoint. */
export type Occupancy = {
  /** State of this very operation, when it is known. */
  readonly known: OperationState | undefined
  /** The live operation with the same sender and nonce. */
  readonly slot:
    | {
        readonly hash: Hex
        readonly state: 'pooled' | 'bundled'
        readonly maxFeePerGas: bigint
        readonly maxPriorityFeePerGas: bigint
        readonly prefund: bigint
        readonly paymaster: Address | null
      }
    | undefined
  /** Live operations of the sender, and on the whole chain. */
  readonly ofSender: number
  readonly total: number
  /** wei that live operations may take from the paymaster's deposit. */
  readonly paymasterPending: bigint
}

type Candidate = {
  readonly chainId: number
  readonly entryPoint: Address
  readonly hash: Hex
  readonly sender: Address
  readonly nonce: bigint
  readonly paymaster: Address | undefined
}

/**
 * Until the transaction ends, no other admission looks at the same sender or paymaster: counts and
 * sums read after this are exact. Locks are taken in one order, so admissions cannot deadlock.
 */
export const lockAdmission = async (trx: Kysely<Schema>, candidate: Candidate): Promise<void> => {
  const { chainId, entryPoint, sender, paymaster } = candidate
  const names = [sender, ...(paymaster ? [paymaster] : [])].map(
    (entity) => `admission ${chainId} ${entryPoint} ${entity}`,
  )
  await sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(name, 0) as key from unnest(${names}::text[]) as name
    order by key) as keys`.execute(trx)
}

/** Reads what decides about an admission; exact when `lockAdmission` came before. */
export const readOccupancy = async (
  trx: Kysely<Schema>,
  { chainId, entryPoint, hash, sender, nonce, paymaster }: Candidate,
): Promise<Occupancy> => {
  const { rows } = await sql<{
    known: OperationState | null
    of_sender: bigint
    total: bigint
    paymaster_pending: bigint
  }>`select
    (select state from operations where chain_id = ${chainId} and hash = ${hash}) as known,
    (select count(*) from operations where chain_id = ${chainId} and entry_point = ${entryPoint}
      and sender = ${sender} and state in ('pooled', 'bundled')) as of_sender,
    (select count(*) from operations where chain_id = ${chainId}
      and state in ('pooled', 'bundled')) as total,
    (select coalesce(sum(prefund), 0) from operations where chain_id = ${chainId}
      and entry_point = ${entryPoint} and paymaster = ${paymaster ?? null}
      and state in ('pooled', 'bundled')) as paymaster_pending`.execute(trx)
  const counts = rows[0]!
  const slot = await trx
    .selectFrom('operations')
    .select(['hash', 'state', 'prefund', 'paymaster'])
    .select(['max_fee_per_gas', 'max_priority_fee_per_gas'])
    .where('chain_id', '=', BigInt(chainId))
    .where('entry_point', '=', entryPoint)
    .where('sender', '=', sender)
    .where('nonce', '=', nonce)
    .where('state', 'in', ['pooled', 'bundled'])
    .forUpdate()
    .executeTakeFirst()
  return {
    known: counts.known ?? undefined,
    slot: slot && {
      hash: slot.hash,
      state: slot.state as 'pooled' | 'bundled',
      maxFeePerGas: slot.max_fee_per_gas,
      maxPriorityFeePerGas: slot.max_priority_fee_per_gas,
      prefund: slot.prefund,
      paymaster: slot.paymaster,
    },
    ofSender: Number(counts.of_sender),
    total: Number(counts.total),
    paymasterPending: counts.paymaster_pending,
  }
}
