import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { createRecordShare } from '../base/createRecordShare.js'
import { createWriteBehind } from '../base/createWriteBehind.js'
import { ConflictError } from '../base/errors/restErrors.js'
import { Lru } from '../base/lru.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { Database } from '../db/database.js'
import { openWitness, packWitness, type Witness, type WitnessedRun } from '../simulation/witness.js'

/** The run that a witness is of. */
export type WitnessSubject = {
  /** The transaction that was mined, or the operation that was refused. */
  readonly hash: Hex
  /** The app whose operation was refused; undefined = a transaction, which may have those of many. */
  readonly appId: string | undefined
}

type RecorderContext = {
  readonly chainId: number
  readonly database: Database
  readonly logger: Logger
  readonly metrics: ChainMetrics
}

export type WitnessRecorder = ReturnType<typeof createWitnessRecorder>

/** Milliseconds for which witnesses gather before they are stored together. */
const GATHER = 250
/** Witnesses that wait at most: packing one takes about a millisecond of the thread that answers. */
const MOST_WAITING = 32
/** Names that are remembered. */
const MOST_RECENT = 10_000

/**
 * Stores witnesses in batches, behind the answers. Those of refusals beyond an app's share, those that do not fit into
 * the queue and those that cannot be stored are counted and dropped.
 */
export function createWitnessRecorder({ chainId, database, logger, metrics }: RecorderContext) {
  let waiting: { readonly subject: WitnessSubject; take(): WitnessedRun }[] = []
  const share = createRecordShare()
  const recent = new Lru<Hex, true>(MOST_RECENT)
  const count = (outcome: 'kept' | 'lost', runs: number) =>
    metrics.count('purser_witnesses_total', { outcome }, runs)

  async function write(): Promise<void> {
    const batch = waiting
    waiting = []
    try {
      const runs = batch.map(({ subject, take }) => ({ subject, run: take() }))
      if (batch.length > 0) await putWitnesses(database, chainId, runs)
      count('kept', batch.length)
    } catch (error) {
      count('lost', batch.length)
      logger.warn({ err: error, lost: batch.length }, 'witnesses could not be recorded')
    }
  }

  const behind = createWriteBehind({ delay: GATHER, hasGathered: () => waiting.length > 0, write })
  return {
    /** Stores the witness that `take` makes soon, behind the answer. Never throws and never waits. */
    record(subject: WitnessSubject, take: () => WitnessedRun): void {
      const isShared = subject.appId === undefined || share(subject.appId)
      if (isShared && waiting.length < MOST_WAITING) {
        waiting.push({ subject, take })
        recent.set(subject.hash, true)
      } else count('lost', 1)
      behind.schedule()
    },
    /** Whether it has recently recorded a run of this name. */
    has: (hash: Hex) => recent.get(hash) ?? false,
    /** Stores what waits. */
    stop: behind.stop,
  }
}

/** Stores witnesses, and each code once. */
export async function putWitnesses(
  db: Database,
  chainId: number,
  batch: readonly { readonly subject: WitnessSubject; readonly run: WitnessedRun }[],
): Promise<void> {
  const codes = new Map(batch.flatMap(({ run }) => [...run.codes]))
  const rows = batch.map(({ subject: { hash, appId = null }, run }) => {
    const { digest, bytes } = packWitness(run.witness)
    return { chain_id: BigInt(chainId), hash, app_id: appId, digest, bytes: Buffer.from(bytes) }
  })
  await db.transaction().execute(async (trx) => {
    // In one order, so that two processes do not wait for each other.
    const named = [...codes].sort(([a], [b]) => (a < b ? -1 : 1))
    if (named.length > 0)
      await trx
        .insertInto('codes')
        .values(named.map(([hash, code]) => ({ hash, bytes: Buffer.from(code) })))
        .onConflict((conflict) =>
          conflict
            .column('hash')
            .doUpdateSet({ used_at: sql`now()` })
            .where(sql<boolean>`codes.used_at < now() - interval '1 day'`),
        )
        .execute()
    await trx
      .insertInto('witnesses')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

/** The runs to look among: that of a transaction, or the refusals of operations that apps of an account sent. */
type WitnessOwner = 'transaction' | { readonly accountId: string | undefined }

/**
 * The newest witness with the code that it names, checked against its digest; with an `accountId` only when it is that
 * account's. Throws ConflictError where it was changed.
 */
export async function findWitness(
  db: Database,
  chainId: number,
  hash: Hex,
  owner: WitnessOwner,
): Promise<WitnessedRun | undefined> {
  const row = await db
    .selectFrom('witnesses')
    .select(['digest', 'bytes'])
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', hash)
    .where(ownedBy(owner))
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const witness = openWitness(row)
  return { witness, codes: await readCodes(db, witness) }
}

function ownedBy(owner: WitnessOwner) {
  if (owner === 'transaction') return sql<boolean>`app_id is null`
  const { accountId } = owner
  return accountId === undefined
    ? sql<boolean>`app_id is not null`
    : sql<boolean>`app_id in (select id from apps where account_id = ${accountId})`
}

async function readCodes(db: Database, { state }: Witness): Promise<WitnessedRun['codes']> {
  const hashes = [...new Set(state.accounts.map(({ code }) => code))]
  const rows = await db
    .selectFrom('codes')
    .select(['hash', 'bytes'])
    .where('hash', 'in', hashes)
    .execute()
  const codes = new Map(rows.map((row) => [row.hash, new Uint8Array(row.bytes)]))
  const missing = hashes.find((hash) => !codes.has(hash))
  if (missing !== undefined) throw new ConflictError(`The witness lacks the code ${missing}.`)
  return codes
}

/**
 * Deletes up to `limit` witnesses that are older than `before`, or of refusals beyond the newest `kept` of their app;
 * and as many codes that none of those needs that stay. Returns how many.
 */
export async function pruneWitnesses(
  db: Database,
  before: Date,
  kept: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with doomed as (
      (select chain_id, hash, digest from witnesses where at < ${before} limit ${limit})
      union
      (select beyond.* from apps cross join lateral (
          select chain_id, hash, digest from witnesses where app_id = apps.id
          order by at desc offset ${kept} limit ${limit}
        ) beyond limit ${limit})
    )
    delete from witnesses w using (select * from doomed limit ${limit}) d
    where w.chain_id = d.chain_id and w.hash = d.hash and w.digest = d.digest`.execute(db)
  // A code counts as used up to a day before the newest witness with it.
  await sql`delete from codes where hash in (select hash from codes
    where used_at < ${before}::timestamptz - interval '1 day' limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}
