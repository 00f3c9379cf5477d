import type { FeeAdvice } from '../chain/fees.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import type { Database } from '../store/database.js'
import { findFund } from '../store/ledger/funds.js'

type Advice = {
  readonly database: Database
  readonly chainId: number
  /** The advice of the chain. */
  fees(): Promise<FeeAdvice>
  estimate(entryPoint: EntryPoint, draft: Draft, override?: StateOverride): Promise<GasEstimate>
}

/** The fees that an app's clients are advised to offer, before they ask for sponsorship. */
export type AppFees = {
  fees(appId: string): Promise<FeeAdvice>
  estimate(
    entryPoint: EntryPoint,
    draft: Draft,
    override: StateOverride | undefined,
    appId: string,
  ): Promise<GasEstimate>
}

const noFees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

/**
 * The chain's advice, but fees of 0 for an app in mode `native`: there we pay for its operations
 * without a paymaster, and their own fees must be 0. Fees that a client sets itself stay.
 */
export function createAppFees({ database, chainId, fees, estimate }: Advice): AppFees {
  const isNative = async (appId: string): Promise<boolean> =>
    (await findFund(database, appId, chainId))?.mode === 'native'
  return {
    fees: async (appId) =>
      (await isNative(appId)) ? { slow: noFees, standard: noFees, fast: noFees } : fees(),
    estimate: async (entryPoint, draft, override, appId) => {
      const { maxFeePerGas, maxPriorityFeePerGas } = draft
      const offersOwn = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
      const isFree = !offersOwn && (await isNative(appId))
      return estimate(entryPoint, isFree ? { ...draft, ...noFees } : draft, override)
    },
  }
}
