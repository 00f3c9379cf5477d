import type { Hex } from 'viem'
import { unixNow } from '../base/unixNow.js'
import { MOST_TRIED } from '../base/vocabulary.js'
import { ConflictError, InvalidFieldError, NotFoundError } from '../errors/restErrors.js'
import { createPolicies } from '../policy/managePolicies.js'
import type { PolicyTerms } from '../policy/policy.js'
import { termsSchema } from '../policy/policySchema.js'
import {
  type PastOperation,
  type PolicyTrial,
  replayPolicy,
  type TriedOperation,
  type TriedPolicy,
  tryPolicyNow,
  type Unevaluated,
  unevaluatedOf,
} from '../policy/tryPolicy.js'
import type { Database } from '../store/database.js'
import { findDecisionEntry } from '../store/ledger/decisions.js'
import {
  type PastRecord,
  readPastOperation,
  readPastOperations,
} from '../store/records/pastOperations.js'
import {
  findRefusal,
  findRefusalOfDecision,
  type StoredRefusal,
} from '../store/records/refusals.js'

/** An operation as its sender wrote it. */
export type PastedOperation = {
  readonly chainId: number
  /** Undefined = the record does not say. */
  readonly entryPoint: string | undefined
  readonly operation: unknown
}

/** The operations that a draft is tried on; ids may be any text. */
export type TrialSubject =
  | { readonly last: number }
  | { readonly decisionId: string }
  | { readonly refusalId: string }
  | { readonly operation: PastedOperation }

export type TrialRequest = {
  readonly accountId: string
  readonly appId: string
  /** Undefined = those of the policy `policyId`. */
  readonly terms: PolicyTerms | undefined
  /** The policy that the draft would replace, whose counters count; undefined = none. */
  readonly policyId: string | undefined
  readonly against: TrialSubject
}

/** The answer that was given when the operation was asked about; undefined = nobody asked for a sponsorship. */
export type AnswerThen = {
  readonly decisionId: string | null
  readonly sponsored: boolean
  readonly code: string
  readonly message: string
}

/** A draft's word on one operation, beside what was said then. */
export type TriedRecord = {
  readonly chainId: number
  /** Undefined where no operation of the pool is meant. */
  readonly userOpHash: Hex | undefined
  readonly sender: string
  /** Undefined = now. */
  readonly at: Date | undefined
  readonly trial: PolicyTrial
  readonly before: AnswerThen | undefined
}

export type TrialResult = {
  readonly items: readonly TriedRecord[]
  readonly unevaluated: readonly Unevaluated[]
}

/** Reads an operation as its sender wrote it. Throws InvalidParamsError and the like. */
export type ReadPasted = (pasted: PastedOperation) => TriedOperation

/** The id of a draft that no policy has, so that no counter is of it. */
const NO_POLICY = '00000000-0000-0000-0000-000000000000'

/**
 * Tries a draft on operations of an app; keeps nothing. Throws PolicyNotFoundError, NotFoundError,
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
  const stored =
    policyId === undefined ? undefined : await createPolicies(db).get(accountId, policyId)
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
  id: string,
  { accountId, appId }: Owner,
  readPasted: ReadPasted,
): Promise<OneSubject> {
  const decision = await findDecisionEntry(db, id, accountId)
  if (decision === undefined || decision.app_id !== appId) throw new NotFoundError('Decision')
  const { sponsored, code, message, user_op_hash: hash, chain_id, sender, max_cost } = decision
  const before = { decisionId: id, sponsored, code, message }
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
        ? 'The operation of this decision was never sent, so it is not known. Paste it.'
        : 'The request that this decision refused is not kept any more. Paste the operation.',
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
    throw new ConflictError('The refused request was too long to be kept. Paste the operation.')
  return { chainId: Number(chain_id), entryPoint, operation }
}

function answerOf({ code, rule, message, data }: StoredRefusal): AnswerThen {
  const told = data === null ? {} : (JSON.parse(data) as { code?: string; decisionId?: string })
  return {
    decisionId: told.decisionId ?? null,
    sponsored: false,
    code: told.code ?? rule ?? String(code),
    message,
  }
}
