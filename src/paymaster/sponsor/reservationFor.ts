import type { Refusal } from '../../base/errors/catalogue.js'
import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { ReservationRequest } from '../policy/ledgerView.js'
import type { Reserved } from '../policy/reserve.js'
import type { SponsorshipRequest } from '../sponsorship.js'
import { creditEmpty, tankEmpty } from '../tank/payer.js'
import type { Sponsorable } from './evaluatedSponsorship.js'

/** The request to the ledger for a sponsorship. */
export function reservationFor(
  { payer, head, available, claim }: Sponsorable,
  { appId, entryPoint, draft }: SponsorshipRequest,
  chainId: number,
): Omit<ReservationRequest, 'validUntil'> {
  return {
    slot: {
      chainId,
      entryPoint: entryPoint.address,
      appId,
      paymaster: payer.tank?.address ?? zeroAddress,
      sender: draft.sender,
      nonce: draft.nonce,
    },
    claim,
    head,
    available,
  }
}

/** The refusal of a sponsorship that the ledger did not reserve. */
export function reservationRefusal(
  { payer: { tank, credit }, head: { deposit }, claim: { maxCost } }: Sponsorable,
  reserved: Exclude<Reserved, { kind: 'granted' }>,
): Refusal {
  if (reserved.kind === 'short') {
    const { locked } = reserved
    return tankEmpty(tank?.address ?? zeroAddress, { deposit: deposit ?? 0n, locked, maxCost })
  }
  if (credit === undefined || reserved.policyId !== credit.id) return reserved.refusal
  const [{ used } = { used: 0n }] = reserved.claims
  return creditEmpty({ credited: credit.credited, used, maxCost })
}
