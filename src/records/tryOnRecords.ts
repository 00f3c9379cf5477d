import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { ConflictError, InvalidFieldError, NotFoundError } from '../base/errors/restErrors.js'
import { unixNow } from '../base/unixNow.js'
import { MOST_TRIED } from '../base/vocabulary.js'
import type { Database } from '../db/database.js'
import type { OperationState } from '../mempool/pool/operations.js'
import { findDecisionEntry } from '../paymaster/ledger/decisions.js'
import { findPolicy } from '../paymaster/policy/managePolicies.js'
import { type PolicyTerms, termsSchema } from '../paymaster/policy/policySchema.js'
import {
  type PastOperation,
  type PolicyTrial,
  replayPolicy,
  type TriedOperation,
  type TriedPolicy,
  tryPolicyNow,
  type Unevaluated,
  unevaluatedOf,
} from '../paymaster/policy/tryPolicy.js'
import { id, type Row } from '../tenants/schemas.js'
import { findRefusal, findRefusalOfDecision, type StoredRefusal } from './refusals.js'

/** An operation as its sender wrote it. */
export type PastedOperation = {
  readonly chainId: number
  /** Undefined = the record does not say. */
  readonly entryPoint: string | undefined
  readonly operation: unknown
}

/** The operations that a draft is tried on; ids may be any text. */
type TrialSubject =
  | { readonly last: number }
  | { readonly decisionId: string }
  | { readonly refusalId: string }
  | { readonly operation: PastedOperation }

type TrialRequest = {
  readonly accountId: string
  readonly appId: string
  /** Undefined = those of the policy `policyId`. */
  readonly terms: PolicyTerms | undefined
  /** The policy that the draft would replace, whose counters count; undefined = none. */
  readonly policyId: string | undefined
  readonly against: TrialSubject
}

/** The answer that was given when the operation was asked about. */
export const answerThen = z.object({
  decisionId: id.nullable(),
  sponsored: z.boolean(),
  code: z.string(),
  message: z.string(),
})

/** The draft's decision about one operation, next to the recorded one. */
export type TriedRecord = {
  readonly chainId: number
  /** Undefined where no operation of the pool is meant. */
  readonly userOpHash: Hex | undefined
  readonly sender: string
  /** Undefined = now. */
  readonly at: Date | undefined
  readonly trial: PolicyTrial
  /** Undefined = nobody asked for a sponsorship. */
  readonly before: Row<typeof answerThen> | undefined
}

type TrialResult = {
  readonly items: readonly TriedRecord[]
  readonly unevaluated: readonly Unevaluated[]
}

/** Reads an operation as its sender wrote it. Throws InvalidParamsError and the like. */
type ReadPasted = (pasted: PastedOperation) => TriedOperation

/** The id of a draft that no policy has, so that no counter is of it. */
const NO_POLICY = '00000000-0000-0000-0000-000000000000'

/**
 * Tries a draft on operations of an app; keeps nothing. Throws NotFoundError,
 * InvalidFieldError, ConflictError where the record of an operation is not kept, and what `readPasted` throws.
 */
export async function tryOnRecords(
  db: Database,
  request: TrialRequest,
  readPasted: ReadPasted,
): Promise<TrialResult> {
  const { against } = request
  const policy = await policyOf(db, request)
  if ('last' in against) return replay(db, policy, Math.min(against.last, MOST_TRIED))
  const { operation, ...about } = await subjectOf(db, { ...request, against }, readPasted)
  const trial = await tryPolicyNow(db, policy, operation, unixNow())
  const { chainId, sender } = operation
  return {
    items: [{ chainId, sender, at: undefined, ...about, trial }],
    unevaluated: unevaluatedOf(policy, [operation]),
  }
}

async function replay(db: Database, policy: TriedPolicy, count: number): Promise<TrialResult> {
  const records = await readPastOperations(db, policy.appId, count)
  const operations = records.map(toPastOperation)
  const trials = await replayPolicy(policy, operations)
  return {
    items: records.map((record, place) => toTriedRecord(record, trials[place] ?? [])),
    unevaluated: unevaluatedOf(policy, operations),
  }
}

async function policyOf(
  db: Database,
  { accountId, appId, terms, policyId }: TrialRequest,
): Promise<TriedPolicy> {
  const stored = policyId === undefined ? undefined : await findPolicy(db, accountId, policyId)
  if (policyId !== undefined && stored === undefined) throw new NotFoundError('Policy')
  const drafted = terms ?? (stored && termsSchema.parse(stored.terms))
  if (drafted === undefined) throw new InvalidFieldError('terms', 'or policyId must be there')
  const { name = 'draft' } = stored ?? {}
  return { id: policyId ?? NO_POLICY, appId, name, active: true, terms: drafted }
}

function toPastOperation(record: PastRecord): PastOperation {
  const { state, maxCost, actualCost } = record
  const isLive = state === 'pooled' || state === 'bundled'
  return {
    chainId: Number(record.chainId),
    sender: record.sender,
    draft: draftOf(record),
    maxFeePerGas: record.maxFeePerGas,
    maxCost,
    at: Math.floor(record.receivedAt.getTime() / 1_000),
    cost: actualCost ?? (isLive ? maxCost : undefined),
  }
}

function draftOf({
  callData,
  factory,
  factoryData,
}: Pick<PastRecord, 'callData' | 'factory' | 'factoryData'>) {
  return { callData, factory: factory ?? undefined, factoryData }
}

function toTriedRecord(record: PastRecord, trial: PolicyTrial): TriedRecord {
  const { decisionId, sponsored, code, message } = record
  return {
    chainId: Number(record.chainId),
    userOpHash: record.hash,
    sender: record.sender,
    at: record.receivedAt,
    trial,
    before:
      decisionId === null
        ? undefined
        : { decisionId, sponsored: sponsored === true, code: code ?? '', message: message ?? '' },
  }
}

type OneSubject = Pick<TriedRecord, 'userOpHash' | 'before'> & {
  readonly operation: TriedOperation
}

type Owner = Pick<TrialRequest, 'accountId' | 'appId'>
type OneOf = Owner & { readonly against: Exclude<TrialSubject, { last: number }> }

async function subjectOf(
  db: Database,
  { against, ...owner }: OneOf,
  readPasted: ReadPasted,
): Promise<OneSubject> {
  if ('operation' in against)
    return { operation: readPasted(against.operation), userOpHash: undefined, before: undefined }
  if ('decisionId' in against) return ofDecision(db, against.decisionId, owner, readPasted)
  const refusal = await findRefusal(db, against.refusalId, owner.accountId)
  if (refusal === undefined || refusal.app_id !== owner.appId) throw new NotFoundError('Refusal')
  return {
    operation: readPasted(requestOf(refusal, refusal.entry_point ?? undefined)),
    userOpHash: undefined,
    before: answerOf(refusal),
  }
}

async function ofDecision(
  db: Database,
  decisionId: string,
  { accountId, appId }: Owner,
  readPasted: ReadPasted,
): Promise<OneSubject> {
  const decision = await findDecisionEntry(db, decisionId, accountId)
  if (decision === undefined || decision.app_id !== appId) throw new NotFoundError('Decision')
  const { sponsored, code, message, user_op_hash: hash, chain_id, sender, max_cost } = decision
  const before = { decisionId, sponsored, code, message }
  const sent = hash === null ? undefined : await readPastOperation(db, appId, chain_id, hash)
  if (sent !== undefined) {
    const { maxFeePerGas } = sent
    const facts = { chainId: Number(chain_id), sender, maxFeePerGas, maxCost: max_cost }
    return { operation: { ...facts, draft: draftOf(sent) }, userOpHash: hash ?? undefined, before }
  }
  const refusal = await findRefusalOfDecision(db, decision)
  if (refusal === undefined)
    throw new ConflictError(
      sponsored
        ? 'The operation of this decision was never sent, so it is not stored. Paste it.'
        : 'The request that this decision refused is no longer stored. Paste the operation.',
    )
  return {
    operation: readPasted(requestOf(refusal, decision.entry_point)),
    userOpHash: undefined,
    before,
  }
}

/** The operation that a refused request was about. Throws ConflictError. */
function requestOf({ request, chain_id }: StoredRefusal, entryPoint: string | undefined) {
  const [operation] = request === null ? [] : (JSON.parse(request) as unknown[])
  if (typeof operation !== 'object' || operation === null)
    throw new ConflictError('The refused request was too long to store. Paste the operation.')
  return { chainId: Number(chain_id), entryPoint, operation }
}

function answerOf({ code, rule, message, data }: StoredRefusal): Row<typeof answerThen> {
  const details = data === null ? {} : (JSON.parse(data) as { code?: string; decisionId?: string })
  return {
    decisionId: details.decisionId ?? null,
    sponsored: false,
    code: details.code ?? rule ?? String(code),
    message,
  }
}

/** An operation of an app as a policy would have seen it, with the decision about it. */
type PastRecord = {
  readonly chainId: bigint
  readonly hash: Hex
  readonly sender: Address
  readonly receivedAt: Date
  readonly state: OperationState
  readonly callData: Hex
  readonly factory: Address | null
  readonly factoryData: Hex
  /** wei per gas that are bid for it */
  readonly maxFeePerGas: bigint
  /** wei: what was reserved for it, or where it was not sponsored what its limits allow. */
  readonly maxCost: bigint
  /** wei; null while it is not included. */
  readonly actualCost: bigint | null
  /** Null where nobody was asked to sponsor it. */
  readonly decisionId: string | null
  readonly sponsored: boolean | null
  readonly code: string | null
  readonly message: string | null
  readonly decidedAt: Date | null
}

/** Characters of call data that are read at most: a policy decodes all of it. */
const MOST_CALL_DATA = 8_000_000

/** The newest operations of an app, the oldest of them first; fewer where they carry much call data. */
export async function readPastOperations(
  db: Database,
  appId: string,
  limit: number,
): Promise<readonly PastRecord[]> {
  const { rows } = await sql<PastRecord>`
    select o.chain_id as "chainId", o.hash, o.sender, o.received_at as "receivedAt", o.state,
      o.operation->>'callData' as "callData", o.operation->>'factory' as factory,
      coalesce(o.operation->>'factoryData', '0x') as "factoryData", o.max_fee_per_gas as "maxFeePerGas",
      coalesce(d.max_cost, o.prefund) as "maxCost",
      coalesce(d.actual_cost, i.actual_gas_cost) as "actualCost",
      d.id as "decisionId", d.sponsored, d.code, d.message, d.created_at as "decidedAt"
    from (
      select n.*, sum(length(operation->>'callData')) over (order by received_at desc, hash desc) as read
      from (
        select * from operations where app_id = ${appId}
        order by received_at desc, hash desc limit ${limit}
      ) n
    ) o
    left join inclusions i on i.chain_id = o.chain_id and i.user_op_hash = o.hash
    left join lateral (
      select d.id, d.sponsored, d.code, d.message, d.created_at,
        case when d.sponsored then d.max_cost end as max_cost,
        case when r.user_op_hash = o.hash then r.actual_cost end as actual_cost
      from decisions d left join reservations r on r.id = d.reservation_id
      where d.chain_id = o.chain_id and d.user_op_hash = o.hash and d.app_id = o.app_id
      order by d.created_at desc limit 1
    ) d on true
    where o.read <= ${MOST_CALL_DATA}
    order by o.received_at, o.hash`.execute(db)
  return rows
}

/** One operation of an app by the decision that sponsored it. */
async function readPastOperation(
  db: Database,
  appId: string,
  chainId: bigint,
  hash: Hex,
): Promise<Pick<PastRecord, 'callData' | 'factory' | 'factoryData' | 'maxFeePerGas'> | undefined> {
  const { rows } = await sql<PastRecord>`select operation->>'callData' as "callData",
      operation->>'factory' as factory,
      coalesce(operation->>'factoryData', '0x') as "factoryData",
      max_fee_per_gas as "maxFeePerGas"
    from operations where chain_id = ${chainId} and hash = ${hash} and app_id = ${appId}`.execute(
    db,
  )
  return rows[0]
}
