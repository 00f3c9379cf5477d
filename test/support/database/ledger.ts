import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { type Hex, keccak256, toHex } from 'viem'
import type { Database } from '../../../src/db/database.js'
import type { NewDecision } from '../../../src/paymaster/ledger/decisions.js'
import type { Moment } from '../../../src/paymaster/ledger/payers.js'
import type {
  DepositAtHead,
  Payer,
  ReservationSlot,
} from '../../../src/paymaster/ledger/reservations.js'
import type { NewWebhookCall } from '../../../src/paymaster/ledger/webhookCalls.js'
import type { BudgetClaim } from '../../../src/paymaster/policy/budget/budget.js'
import type { ReservationClaim } from '../../../src/paymaster/policy/decideReservation.js'
import { type Reservation, type Reserved, reserve } from '../../../src/paymaster/policy/reserve.js'

/** A sponsorship at the store's level: what it costs, whose it is, and what it charges. */
export type Asked = {
  readonly slot: ReservationSlot
  readonly maxCost: bigint
  readonly validUntil: bigint
  readonly head: DepositAtHead
  readonly claim?: Partial<ReservationClaim>
  readonly calls?: readonly NewWebhookCall[]
  /** Of the operation; made up when absent. */
  readonly hash?: Hex
}

export type Answered = {
  readonly decisionId: string
  readonly hash: Hex
  readonly reserved: Reserved
}

/** Reserves as a sponsor does. */
export async function askLedger(db: Database, asked: Asked): Promise<Answered> {
  const { decisionId, hash, ...reservation } = toReservation(asked)
  return { decisionId, hash, reserved: await reserve(db, reservation) }
}

/** What a sponsor would ask the ledger. */
export function toReservation(asked: Asked): Reservation & Pick<Answered, 'decisionId' | 'hash'> {
  const { slot, maxCost, validUntil, head } = asked
  const decisionId = randomUUID()
  const hash = asked.hash ?? keccak256(toHex(decisionId))
  const claim = { maxCost, ofAccount: [], ofApp: undefined, ...asked.claim }
  const decide = (reserved: Reserved): NewDecision => ({
    id: decisionId,
    app_id: slot.appId,
    chain_id: BigInt(slot.chainId),
    entry_point: slot.entryPoint,
    sender: slot.sender,
    nonce: slot.nonce,
    user_op_hash: hash,
    sponsored: true,
    code: 'SPONSORED',
    message: '',
    max_cost: maxCost,
    valid_after: 0n,
    valid_until: validUntil,
    policy_id: (reserved.kind === 'granted' && reserved.policyId) || null,
  })
  const request = { slot, claim, head, validUntil }
  return { decisionId, hash, request, decide, calls: asked.calls ?? [] }
}

export function budgetClaim(given: Partial<BudgetClaim> & { policyId: string }): BudgetClaim {
  return {
    policyName: 'test',
    budget: 'app wei never',
    subject: '',
    unit: 'wei',
    limit: 0n,
    amount: 0n,
    price: undefined,
    bucket: 0,
    oldest: 0,
    ends: undefined,
    ...given,
  }
}

/** wei that live reservations lock at a moment, counted one by one. */
export async function sumLocked(
  db: Database,
  { chainId, entryPoint, paymaster }: Payer,
  { blockNumber, timestamp }: Moment,
): Promise<bigint> {
  const { rows } = await sql<{ locked: bigint }>`
    select coalesce(sum(max_cost), 0)::numeric as locked from reservations
    where chain_id = ${BigInt(chainId)} and entry_point = ${entryPoint} and paymaster = ${paymaster}
      and state in ('open', 'included', 'expired') and valid_until >= ${BigInt(timestamp)}
      and not (state = 'included' and block_number <= ${blockNumber})`.execute(db)
  return rows[0]?.locked ?? 0n
}
