import type { Kysely } from 'kysely'
import { faultPoint } from '../faults.js'
import { lockAdmission, readOccupancy } from '../store/admissions.js'
import { markReplaced, type NewOperation, putOperation } from '../store/operations.js'
import type { Schema } from '../store/schema.js'
import { type AdmissionDecision, type AdmissionLimits, decideAdmission } from './decideAdmission.js'

export type Admission = {
  readonly entry: NewOperation
  /** wei in the paymaster's deposit; undefined without a paymaster. */
  readonly deposit: bigint | undefined
}

/**
 * Decides about one admission and carries it out in one transaction; resolves after the commit. Of
 * many admissions for one sender and nonce at once, each sees what the one before it left, because
 * they wait for each other. A refusal is data and leaves the transaction usable, so that several
 * admissions could share one.
 */
export function commitAdmission(
  database: Kysely<Schema>,
  admission: Admission,
  limits: AdmissionLimits,
): Promise<AdmissionDecision> {
  return database.transaction().execute((trx) => admitWithin(trx, admission, limits))
}

async function admitWithin(
  trx: Kysely<Schema>,
  { entry, deposit }: Admission,
  limits: AdmissionLimits,
): Promise<AdmissionDecision> {
  const { chainId, entryPoint, hash, operation, prefund } = entry
  const { sender, nonce, paymaster } = operation
  const candidate = { chainId, entryPoint, hash, sender, nonce, paymaster }
  await lockAdmission(trx, candidate)
  const occupancy = await readOccupancy(trx, candidate)
  const decision = decideAdmission({ operation, prefund, deposit }, occupancy, limits)
  if (decision.kind !== 'insert') return decision
  if (decision.replaces) await markReplaced(trx, chainId, decision.replaces, hash)
  await putOperation(trx, entry)
  faultPoint('admission:inserted')
  return decision
}
