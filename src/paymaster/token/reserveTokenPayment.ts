import { sql } from 'kysely'
import type { Address } from 'viem'
import { timeText, unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import type { Database } from '../../db/database.js'
import type { Operation } from '../../erc4337/operation.js'
import { formatTokens } from '../formatUnits.js'
import type { ReservationSlot } from '../ledger/reservations.js'
import { limitsToStore } from '../ledger/signedLimits.js'
import { insertTokenQuote } from '../ledger/tokenQuotes.js'
import { recentPrice } from '../policy/price.js'
import { type Reserved, reserve } from '../policy/reserve.js'
import { type DecisionSubject, toDecisionRow } from '../sponsor/decisionRow.js'
import { availableTo } from '../tank/payer.js'
import type { TokenRequest } from '../tokenPayment.js'
import type { EvaluatedPayment } from './evaluateTokenPayment.js'
import type { TokenParts } from './tokenContext.js'
import { advanceReached } from './tokenRefusals.js'

/** A signed operation with all that is stored of its payment. */
type SignedPayment = {
  readonly evaluated: EvaluatedPayment
  readonly signed: Operation
  readonly token: TokenDefinition
  readonly subject: DecisionSubject
}

/**
 * Asks the ledger for the deposit that the operation may cost and for its part of the token's exposure;
 * when both are granted, the quote and the decision are stored with the reservation. Throws
 * TokenPaymentError (TOKEN_EXPOSURE_REACHED, ADVANCE_REACHED).
 */
export async function reserveTokenPayment(
  { database, definition: { chainId, paymentDefaultSeconds }, heads, exposure, terms }: TokenParts,
  { appId, entryPoint, draft }: TokenRequest,
  { evaluated, signed, token, subject }: SignedPayment,
) {
  const { quote, maxCharge, maxCost, head, tank, delegate } = evaluated
  const { mode, rate, markup, validUntil } = quote
  const { decisionId } = subject
  const message = `Takes at most ${formatTokens(maxCharge, token)} until ${timeText(validUntil)}.`
  const decision = { decisionId, sponsored: true, code: 'TOKEN_PAYMENT', message }
  const details = {
    token: token.address,
    symbol: token.symbol,
    mode,
    markup,
    tank: tank.address,
    rate: rate.toString(),
    maxCharge: maxCharge.toString(),
    maxCost: maxCost.toString(),
    limits: limitsToStore(signed),
  }
  const userOpHash = entryPoint.hash(signed, chainId, delegate)
  const [held, price] = await Promise.all([
    heads.refresh().then((newest) => exposure.heldAt(newest, token)),
    terms.prices(chainId),
  ])
  const nativePrice = recentPrice(price, unixNow(), terms.maxPriceAge)?.microUsd
  const available = availableTo({ tank, credit: undefined }, head.deposit, 0n)
  const slot = {
    chainId,
    entryPoint: entryPoint.address,
    appId,
    paymaster: tank.address,
    sender: draft.sender,
    nonce: draft.nonce,
  }
  const reserved: Reserved = await reserve(
    database,
    {
      request: {
        slot,
        claim: { maxCost, ofAccount: [], ofApp: undefined },
        head,
        available,
        validUntil: BigInt(validUntil),
      },
      decide: () =>
        toDecisionRow(
          subject,
          decision,
          { details, nativePrice },
          { userOpHash, maxCost, ...quote },
        ),
      calls: [],
    },
    async (trx) => {
      const quoted = { chainId, token: token.address, mode, rate, markup, maxCharge }
      await insertTokenQuote(trx, { decisionId, ...quoted })
      if (mode === 'afterwards') {
        const since = new Date(Date.now() - paymentDefaultSeconds * 1_000)
        const advances = await readAdvances(trx, slot, since)
        requireAdvance(token.address, advances, { maxCost, available })
      }
      await exposure.requireRoom(trx, token, { held, maxCharge, block: head.blockNumber })
    },
  )
  return { reserved, decision, details, userOpHash }
}

/*
 * The parts of an app's available balance that a token tank may be short of while it waits for its tokens (mode
 * `afterwards`). A sender that keeps the tokens costs the tank the gas: these parts are the most that is lost.
 */

/** One sender, and so one operation: an eighth. */
const SENDER_DIVISOR = 8n
/** All senders that never paid the tank, with what the app's senders did not pay recently: a quarter. */
const NEW_SENDERS_DIVISOR = 4n
/**
 * All senders of the app, with what they did not pay recently: a half. To pay once costs a sender almost nothing, so
 * senders that have paid before must not fail one after the other without a bound.
 */
const APP_DIVISOR = 2n

/**
 * Requires that a quote, which is among the advances already, stays within these parts of `available` (wei).
 * Throws TokenPaymentError (ADVANCE_REACHED).
 */
function requireAdvance(
  token: Address,
  { ofSender, ofApp, lost, hasPaid }: Advances,
  { maxCost, available }: { readonly maxCost: bigint; readonly available: bigint },
): void {
  const ofNewSenders = hasPaid ? 0n : ofApp + lost
  const checks = [
    ['the sender', ofSender, available / SENDER_DIVISOR],
    ['senders that never paid it', ofNewSenders, available / NEW_SENDERS_DIVISOR],
    ['the app', ofApp + lost, available / APP_DIVISOR],
  ] as const
  for (const [subject, sum, limit] of checks)
    if (sum > limit)
      throw advanceReached(token, subject, { advanced: sum - maxCost, maxCost, limit })
}

/** wei that a token tank pays, or paid, before it gets its tokens (mode `afterwards`), for one app. */
type Advances = {
  /** Open quotes of the sender. */
  readonly ofSender: bigint
  /** Open quotes of all senders. */
  readonly ofApp: bigint
  /** Costs for which the tank got nothing, since a moment. */
  readonly lost: bigint
  /** Whether the sender has ever paid the tank. */
  readonly hasPaid: boolean
}

/** The advances of a tank, of which the transaction has stored those that it grants. */
async function readAdvances(
  db: Database,
  { chainId, entryPoint, paymaster, appId, sender }: Omit<ReservationSlot, 'nonce'>,
  since: Date,
): Promise<Advances> {
  const ofTank = sql`p.chain_id = ${BigInt(chainId)} and p.tank = ${paymaster}`
  const { rows } = await sql<Record<'of_sender' | 'of_app' | 'lost', bigint> & { paid: boolean }>`
    select coalesce(sum(each.most) filter (where each.sender = ${sender}), 0)::numeric(78, 0)
        as of_sender,
      coalesce(sum(each.most), 0)::numeric(78, 0) as of_app,
      (select coalesce(sum(p.cost), 0)::numeric(78, 0) from token_payments p
        where ${ofTank} and p.app_id = ${appId} and p.missed and p.booked_at > ${since}) as lost,
      exists (select from inclusions i join token_payments p
          on p.chain_id = i.chain_id and p.user_op_hash = i.user_op_hash
        where i.chain_id = ${BigInt(chainId)} and i.entry_point = ${entryPoint}
          and i.sender = ${sender} and ${ofTank} and not p.missed) as paid
    from (
      select r.sender, max(d.max_cost) as most
      from reservations r join decisions d on d.reservation_id = r.id
        join token_quotes q on q.decision_id = d.id
      where r.chain_id = ${BigInt(chainId)} and r.entry_point = ${entryPoint}
        and r.paymaster = ${paymaster} and r.app_id = ${appId} and r.state = 'open'
        and q.mode = 'afterwards'
      group by r.id, r.sender) as each`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a sum without a row')
  const { of_sender: ofSender, of_app: ofApp, lost, paid: hasPaid } = row
  return { ofSender, ofApp, lost, hasPaid }
}
