import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type Reserved, reserve } from '../../policy/reserve.js'
import { readAdvances } from '../../store/ledger/advances.js'
import { insertTokenQuote } from '../../store/ledger/tokenQuotes.js'
import { formatTokens } from '../formatUnits.js'
import { type DecisionSubject, toDecisionRow } from '../sponsor/decisionRow.js'
import { meansOf } from '../tank/payer.js'
import type { TokenRequest } from '../tokenPayment.js'
import type { EvaluatedPayment } from './evaluateTokenPayment.js'
import { requireAdvance } from './requireAdvance.js'
import type { TokenParts } from './tokenContext.js'

/** A signed operation with all that is stored of its payment. */
export type SignedPayment = {
  readonly evaluated: EvaluatedPayment
  readonly signed: Operation
  readonly token: TokenDefinition
  readonly subject: DecisionSubject
}

/**
 * Asks the ledger for the deposit that the operation may cost and for room in the token's exposure;
 * when both are granted, the quote and the decision are stored with the reservation. Throws
 * TokenPaymentError (TOKEN_EXPOSURE_REACHED, ADVANCE_REACHED).
 */
export async function reserveTokenPayment(
  { database, definition: { chainId, strikeSeconds }, heads, exposure }: TokenParts,
  { appId, entryPoint, draft }: TokenRequest,
  { evaluated, signed, token, subject }: SignedPayment,
) {
  const { quote, maxCharge, maxCost, head, tank, delegate } = evaluated
  const { mode, rate, markup, validUntil } = quote
  const { decisionId } = subject
  const message = `Takes at most ${formatTokens(maxCharge, token)} until ${validUntil}.`
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
  }
  const userOpHash = entryPoint.hash(signed, chainId, delegate)
  const held = await exposure.heldAt(await heads.refresh(), token)
  const means = meansOf({ tank, credit: undefined }, head.deposit, 0n)
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
        means,
        validUntil: BigInt(validUntil),
      },
      decide: () =>
        toDecisionRow(subject, decision, { details }, { userOpHash, maxCost, ...quote }),
      calls: [],
    },
    async (trx) => {
      const terms = { chainId, token: token.address, mode, rate, markup, maxCharge }
      await insertTokenQuote(trx, { decisionId, ...terms })
      if (mode === 'afterwards') {
        const since = new Date(Date.now() - strikeSeconds * 1_000)
        const advances = await readAdvances(trx, slot, since)
        requireAdvance(token.address, advances, { maxCost, means })
      }
      await exposure.requireRoom(trx, token, { held, maxCharge, block: head.blockNumber })
    },
  )
  return { reserved, decision, details, userOpHash }
}
