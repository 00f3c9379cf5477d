import type { FeeAdvice } from '../chain/feeAdvice.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import type { Database } from '../store/database.js'
import { findFund } from '../store/ledger/funds.js'

type Advice = {
  readonly database: Database
  readonly chainId: number
  /** Of the chain. */
  fees(): Promise<FeeAdvice>
  estimate(entryPoint: EntryPoint, draft: Draft, override?: StateOverride): Promise<GasEstimate>
}

/** What an app's clients are told to offer, who ask for it before they ask for sponsorship. */
export type AppFees = {
  fees(appId: string): Promise<FeeAdvice>
  estimate(
    entryPoint: EntryPoint,
    draft: Draft,
    override: StateOverride | undefined,
    appId: string,
  ): Promise<GasEstimate>
}

const nothing = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

/**
 * The chain's advice; but nothing in mode `native`, where we pay for the app's operations without a
 * paymaster and their own fees must be 0. Fees that a client gives itself stay.
 */
export function createAppFees({ database, chainId, fees, estimate }: Advice): AppFees {
  const isNative = async (appId: string): Promise<boolean> =>
    (await findFund(database, appId, chainId))?.mode === 'native'
  return {
    fees: async (appId) =>
      (await isNative(appId)) ? { slow: nothing, standard: nothing, fast: nothing } : fees(),
    estimate: async (entryPoint, draft, override, appId) => {
      const { maxFeePerGas, maxPriorityFeePerGas } = draft
      const offersOwn = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
      const isFree = !offersOwn && (await isNative(appId))
      return estimate(entryPoint, isFree ? { ...draft, ...nothing } : draft, override)
    },
  }
}
