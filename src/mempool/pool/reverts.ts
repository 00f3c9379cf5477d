import { sql } from 'kysely'
import type { Address } from 'viem'
import { MempoolFullError } from '../../base/errors/operationErrors.js'
import type { PurserError } from '../../base/errors/purserError.js'
import { EntityReputationError } from '../../base/errors/ruleErrors.js'
import type { Database } from '../../db/database.js'
import type { Operation } from '../../erc4337/operation.js'
import type { Party } from '../../erc4337/rules/index.js'
import { THROTTLED_OPERATIONS } from '../reputation.js'

/** An operation and the app that sends it. */
export type RevertSubject = {
  readonly op: Pick<Operation, 'sender' | 'paymaster'>
  readonly entryPoint: Address
  readonly appId: string
}

/**
 * Bundles that operations made fail on the chain, or cost more than they were paid: those of a sender in a day, of an
 * app in an hour.
 */
type Reverts = {
  readonly ofSender: number
  /** Seconds since the last one of the sender; 0 without any. */
  readonly age: number
  readonly ofApp: number
  /**
   * Senders whose operations this paymaster paid and which made bundles cost more than they were paid, within a day; 0 for
   * a tank of ours, for a paymaster without reputation, and where at least half of its operations did no such thing.
   */
  readonly ofPaymaster: number
  /** Seconds since the last one of the paymaster. */
  readonly paymasterAge: number
  /** Whether an operation of the sender was included before. */
  readonly isKnown: boolean
  /**
   * Pooled and bundled operations of the app whose senders are not known; counted only where the app has
   * reverts.
   */
  readonly pendingOfApp: number
}

/**
 * The reverts of each subject, in their order. A failure of the paymaster (AA3x, AA5x) counts for the app
 * only: the sender cannot help it.
 */
async function readReverts(
  db: Database,
  chainId: number,
  subjects: readonly RevertSubject[],
): Promise<Reverts[]> {
  const { rows } = await sql<{
    of_sender: bigint
    age: number | null
    of_app: bigint
    of_paymaster: bigint
    paymaster_age: number | null
    known: boolean
    pending: bigint
  }>`
    with uncovered as materialized (select i.entry_point, i.sender,
        i.paymaster, i.uncovered_at, o.app_id from inclusions i
      left join operations o on o.chain_id = i.chain_id and o.hash = i.user_op_hash
      where i.chain_id = ${chainId} and i.uncovered_at > now() - interval '1 day')
    select s.count as of_sender, s.age, a.count as of_app,
      coalesce(p.count, 0) as of_paymaster, p.age as paymaster_age,
      a.count > 0 and exists (select from inclusions i where i.chain_id = ${chainId}
        and i.entry_point = e.entry_point and i.sender = e.sender) as known,
      case when a.count = 0 then 0 else (select count(*) from live_operations l
        where l.chain_id = ${chainId} and l.app_id = e.app_id
          and l.app_id > '00000000-0000-0000-0000-000000000000'
          and not exists (select from inclusions i where i.chain_id = l.chain_id
            and i.entry_point = l.entry_point and i.sender = l.sender)) end as pending
    from unnest(${subjects.map(({ op }) => op.sender)}::text[],
        ${subjects.map(({ entryPoint }) => entryPoint)}::text[],
        ${subjects.map(({ op }) => op.paymaster ?? null)}::text[],
        ${subjects.map(({ appId }) => appId)}::uuid[])
      with ordinality as e(sender, entry_point, paymaster, app_id, place)
    cross join lateral (select count(*) as count,
        extract(epoch from now() - max(at))::float8 as age
      from (select o.failed_at as at from operations o
        where o.chain_id = ${chainId} and o.sender = e.sender
          and o.failed_at > now() - interval '1 day' and o.reason_code !~ '^AA[35]'
        union all select u.uncovered_at from uncovered u where u.sender = e.sender) as failed) as s
    cross join lateral (select
        (select count(*) from operations o where o.chain_id = ${chainId} and o.app_id = e.app_id
          and o.failed_at > now() - interval '1 hour')
        + (select count(*) from uncovered u where u.app_id = e.app_id
          and u.uncovered_at > now() - interval '1 hour') as count) as a
    left join lateral (select count(distinct u.sender) as count,
        extract(epoch from now() - max(u.uncovered_at))::float8 as age
      from uncovered u where u.entry_point = e.entry_point and u.paymaster = e.paymaster
        and not exists (select from tanks t where t.chain_id = ${chainId}
          and t.entry_point = u.entry_point and t.address = u.paymaster)
      having 2 * count(*) > (select r.ops_included from reputations r where r.chain_id = ${chainId}
        and r.entry_point = e.entry_point and r.address = e.paymaster)) as p on true
    order by e.place`.execute(db)
  return rows.map((row) => ({
    ofSender: Number(row.of_sender),
    age: row.age ?? 0,
    ofApp: Number(row.of_app),
    ofPaymaster: Number(row.of_paymaster),
    paymasterAge: row.paymaster_age ?? 0,
    isKnown: row.known,
    pendingOfApp: Number(row.pending),
  }))
}

/** Seconds of the first pause of a day; each further revert doubles them. */
const FIRST_PAUSE = 600
const LONGEST_PAUSE = 86_400

/** Reverts of an app within an hour from which on few of its operations may be pending. */
const TOLERATED_REVERTS = 3
/** Senders that lost bundles wei, all with one paymaster, from which on that one is paused. */
const SUSPECTING_SENDERS = 3

/** The refusals of the subjects by what their parties did on the chain, in their order; undefined for none. */
export async function refusalsByReverts(
  db: Database,
  chainId: number,
  subjects: readonly RevertSubject[],
): Promise<readonly (PurserError | undefined)[]> {
  const reverts = await readReverts(db, chainId, subjects)
  return subjects.map(({ op }, place) => checkReverts(op, reverts[place]!))
}

/**
 * The refusal of an operation whose sender, paymaster or app has made bundles fail on the chain or lose wei, where the
 * operator pays: the sender is paused, and so is a paymaster of whose operations most lost wei, those of several
 * senders. Of the app's senders that have never had an operation included only a few may
 * have one pending. The others go on: a key that is in every page of an app is not a reason to stop them.
 */
function checkReverts(
  { sender, paymaster }: RevertSubject['op'],
  { ofSender, age, ofApp, ofPaymaster, paymasterAge, isKnown, pendingOfApp }: Reverts,
): PurserError | undefined {
  const party = { role: 'account', address: sender } as const
  const paused =
    pauseError(
      party,
      ofSender,
      age,
      `made ${ofSender} bundles fail on the chain or lose wei there within a day`,
    ) ??
    (paymaster &&
      pauseError(
        { role: 'paymaster', address: paymaster },
        ofPaymaster - SUSPECTING_SENDERS + 1,
        paymasterAge,
        `paid for operations of ${ofPaymaster} senders that made bundles lose wei within a day`,
      ))
  if (paused) return paused
  if (ofApp < TOLERATED_REVERTS || isKnown || pendingOfApp < THROTTLED_OPERATIONS) return undefined
  return new MempoolFullError(
    `operations of this key's app made ${ofApp} bundles fail on the chain or lose wei there within an hour: only ${THROTTLED_OPERATIONS} of new senders may be pending. Wait until some are included.`,
  )
}

/** The refusal of a party that is paused for its `count` failures, the last one `age` seconds ago. */
function pauseError(
  party: Party,
  count: number,
  age: number,
  failed: string,
): PurserError | undefined {
  const pause = count <= 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (count - 1), LONGEST_PAUSE)
  if (age >= pause) return undefined
  const reason = `${failed}: send again in ${Math.ceil(pause - age)} s`
  return new EntityReputationError(party, 'GREP-020', reason)
}
