import type { Kysely } from 'kysely'
import type { Hex } from 'viem'
import { smallest } from '../../base/bigints.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import { zeroAddress } from '../../encoding/constants.js'
import { grantedFees } from '../../store/ledger/grants.js'
import type { SettledInclusion } from '../../store/ledger/ledger.js'
import type { Included } from '../../store/pool/inclusions.js'
import type { Schema } from '../../store/schema.js'

/**
 * What each inclusion cost its sponsor, in wei. That is what the EntryPoint charged, but nothing was
 * charged for an operation that we granted to have no fees: our executor paid its gas at the price of
 * the bundle. Beyond the price that was granted it is our own loss, as with any bundle, and in a
 * bundle of someone else it is theirs.
 */
export async function withSponsorCosts(
  trx: Kysely<Schema>,
  chainId: number,
  included: readonly Included[],
  ourReceipts: ReadonlyMap<Hex, TransactionReceipt>,
): Promise<SettledInclusion[]> {
  const free = included.filter(
    ({ outcome }) =>
      outcome.paymaster === zeroAddress &&
      outcome.actualGasCost === 0n &&
      ourReceipts.has(outcome.event.transactionHash),
  )
  const hashes = free.map(({ outcome }) => outcome.userOpHash)
  const granted = await grantedFees(trx, chainId, hashes)
  return included.map((each) => {
    const { userOpHash, event, actualGasUsed } = each.outcome
    const most = granted.get(userOpHash)
    const receipt = ourReceipts.get(event.transactionHash)
    if (most === undefined || receipt === undefined) return each
    return { ...each, cost: actualGasUsed * smallest(receipt.effectiveGasPrice, most) }
  })
}
