import type { Address } from 'viem'
import { delegateToHash } from '../../chain/delegations.js'
import { highestAdvised } from '../../chain/fees.js'
import { zeroAddress } from '../../encoding/constants.js'
import { checkFees } from '../../policy/checkFees.js'
import type { DepositAtHead } from '../../store/ledger/reservations.js'
import type { StoredTank } from '../../store/ledger/tanks.js'
import { movesExactly } from './holdings.js'
import { type ProposedPayment, proposeTokenPayment, refuseBy } from './proposeTokenPayment.js'
import type { TokenCase } from './tokenCase.js'
import type { TokenParts } from './tokenContext.js'
import { balanceTooLow, notExact, tokenTankEmpty } from './tokenRefusals.js'

/** A token payment that still lacks its signature, its simulation and its reservation. */
export type EvaluatedPayment = ProposedPayment & {
  readonly tank: StoredTank
  /** The address that the sender's code points to (EIP-7702), where the operation does not say. */
  readonly delegate: Address | undefined
  /** wei that the deposit may lose */
  readonly maxCost: bigint
  readonly head: DepositAtHead
}

/** Checks fees, tokens and the tank's deposit. Throws the PurserError that refuses the payment. */
export async function evaluateTokenPayment(
  parts: TokenParts,
  payment: TokenCase,
): Promise<EvaluatedPayment> {
  const { request, token, tank, holdings } = payment
  const { entryPoint, draft } = request
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
  const { fast } = await parts.fees()
  const offered = { maxFeePerGas, maxPriorityFeePerGas }
  refuseBy(checkFees(offered, highestAdvised(parts.node, fast), parts.terms), token)
  if (holdings.balance === 0n) throw balanceTooLow(token, 0n, 1n)
  const proposal = await proposeTokenPayment(parts, payment)
  const { unsigned, maxCharge, quote } = proposal
  if (holdings.balance < maxCharge) throw balanceTooLow(token, holdings.balance, maxCharge)
  const to = quote.treasury === zeroAddress ? tank.address : quote.treasury
  const transfer = { holder: draft.sender, to, amount: maxCharge }
  const head = await parts.heads.refresh()
  const [exact, deposit, delegate] = await Promise.all([
    movesExactly(parts.node, token.address, transfer),
    parts.depositAt(head, entryPoint.address, tank.address),
    delegateToHash(parts.node, draft),
  ])
  if (!exact) throw notExact(token)
  const prefund = entryPoint.requiredPrefund(unsigned)
  if (deposit < prefund) throw tokenTankEmpty(token.address, tank.address, prefund)
  const maxCost = entryPoint.chargeableGas(unsigned) * unsigned.maxFeePerGas
  const { number: blockNumber, timestamp } = head
  return { ...proposal, tank, delegate, maxCost, head: { deposit, blockNumber, timestamp } }
}
