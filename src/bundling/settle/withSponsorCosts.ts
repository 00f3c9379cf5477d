import type { Hex } from 'viem'
import { smallest } from '../../base/bigints.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import { zeroAddress } from '../../encoding/constants.js'
import type { Transaction } from '../../store/database.js'
import { grantedFees } from '../../store/ledger/grants.js'
import type { SettledInclusion } from '../../store/ledger/ledger.js'
import type { Included } from '../../store/pool/inclusions.js'

/**
 * The inclusions with their cost to the sponsor, in wei. The cost is the charge of the EntryPoint. An
 * operation that was granted to have no fees is not charged there: our executor paid its gas at the
 * price of the bundle, so that is the cost, up to the granted price. The rest is the loss of whoever
 * sent the bundle.
 */
export async function withSponsorCosts(
  trx: Transaction,
  chainId: number,
  included: readonly Included[],
  ourReceipts: ReadonlyMap<Hex, TransactionReceipt>,
): Promise<SettledInclusion[]> {
  const withoutCharge = included.filter(
    ({ outcome }) =>
      outcome.paymaster === zeroAddress &&
      outcome.actualGasCost === 0n &&
      ourReceipts.has(outcome.event.transactionHash),
  )
  const hashes = withoutCharge.map(({ outcome }) => outcome.userOpHash)
  const granted = await grantedFees(trx, chainId, hashes)
  return included.map((inclusion) => {
    const { userOpHash, event, actualGasUsed } = inclusion.outcome
    const grantedPrice = granted.get(userOpHash)
    const receipt = ourReceipts.get(event.transactionHash)
    if (grantedPrice === undefined || receipt === undefined) return inclusion
    return { ...inclusion, cost: actualGasUsed * smallest(receipt.effectiveGasPrice, grantedPrice) }
  })
}
