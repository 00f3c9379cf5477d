import { faultPoint } from '../../base/faults.js'
import type { Database, Transaction } from '../../db/database.js'
import type { NewDecision } from '../ledger/decisions.js'
import { readLedger } from '../ledger/ledgerBooks.js'
import { keepLocked, lockPayer } from '../ledger/payers.js'
import { recordSponsorships } from '../ledger/recordSponsorships.js'
import { chargesHeld } from '../ledger/reservations.js'
import type { NewWebhookCall } from '../ledger/webhookCalls.js'
import { decideReservation, type ReservationDecision } from './decideReservation.js'
import {
  claimsOf,
  createLedgerView,
  type LedgerView,
  queryOf,
  type ReservationRequest,
} from './ledgerView.js'

/** A decision of the ledger, with the wei that other slots lock. */
export type Reserved = ReservationDecision & { readonly locked: bigint }

/** A request to the ledger, with the rows to store when it is granted. */
export type Reservation = {
  readonly request: ReservationRequest
  readonly decide: (reserved: Reserved) => NewDecision
  readonly calls: readonly NewWebhookCall[]
}

/**
 * Decides about sponsorships of one payer, in their order, in one transaction; resolves after the
 * commit. Each that deposit and budgets can cover gets its maximum cost reserved and its
 * decision stored with its calls, before the next is decided. Decisions that share a payer or a
 * policy wait for each other, in all processes. A refusal stores nothing and does not affect the
 * others; when anything throws, nothing at all is stored. `besides` stores, in the same
 * transaction, whatever belongs to the granted reservations.
 */
export function reserveTogether<Each extends Reservation>(
  db: Database,
  reservations: readonly Each[],
  besides?: (trx: Transaction, granted: readonly Each[]) => Promise<void>,
): Promise<Reserved[]> {
  return db.transaction().execute(async (trx) => {
    const requests = reservations.map(({ request }) => request)
    const payer = payerOf(requests)
    const claims = requests.flatMap(({ claim }) => claimsOf(claim))
    await lockPayer(trx, payer, [...new Set(claims.map(({ policyId }) => policyId))])
    const view = await readView(trx, requests)
    const granted: Each[] = []
    const sponsorships: Parameters<typeof recordSponsorships>[2]['sponsorships'][number][] = []
    const results = reservations.map((each) => {
      const { request, decide, calls } = each
      const reserved = decideNext(view, request)
      if (reserved.kind !== 'granted') return reserved
      const { charges } = reserved
      view.take(request, charges)
      granted.push(each)
      sponsorships.push({ decision: decide(reserved), calls, charges })
      return reserved
    })
    const changes = view.changes()
    if (granted.length > 0) {
      await recordSponsorships(trx, payer, { ...changes, sponsorships })
      await besides?.(trx, granted)
    } else if (view.hasPassed) await keepLocked(payer, changes.locked).execute(trx)
    faultPoint('sponsorship:reserved')
    return results
  })
}

/** The same for one reservation. */
export async function reserve(
  db: Database,
  reservation: Reservation,
  besides?: (trx: Transaction) => Promise<void>,
): Promise<Reserved> {
  const [reserved] = await reserveTogether(db, [reservation], besides)
  if (reserved === undefined) throw new Error('a reservation without an answer')
  return reserved
}

/** The answers that `reserve` would give now to each request of a payer alone. Reserves, locks and stores nothing. */
export async function previewReservations(
  db: Database,
  requests: readonly Request[],
): Promise<Reserved[]> {
  const view = await readView(db, requests)
  return requests.map((request) => decideNext(view, request))
}

type Request = Omit<ReservationRequest, 'validUntil'>

function decideNext(view: LedgerView, request: Request): Reserved {
  const books = view.booksFor(request)
  return { ...decideReservation(request.claim, books), locked: books.locked }
}

async function readView(db: Database, requests: readonly Request[]): Promise<LedgerView> {
  const query = queryOf(requests)
  const read = await readLedger(db, payerOf(requests), query)
  const ids = read.slots.flatMap((slot) => slot?.id ?? [])
  const needed = ids.length > 0 && query.counters.length > 0
  return createLedgerView(query, read, needed ? await chargesHeld(db, ids) : [])
}

function payerOf([first, ...others]: readonly Request[]) {
  if (first === undefined) throw new Error('no sponsorship asks')
  const { chainId, entryPoint, paymaster } = first.slot
  for (const { slot } of others)
    if (slot.chainId !== chainId || slot.entryPoint !== entryPoint || slot.paymaster !== paymaster)
      throw new Error('sponsorships of several payers were put together')
  return { chainId, entryPoint, paymaster }
}
