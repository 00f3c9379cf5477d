import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { FeeAdvice } from '../chain/fees.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { DataPrice } from '../gas/dataPrice.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import { type ChargingChain, expectedShare } from '../gas/preVerificationGas.js'
import type { Database } from '../store/database.js'
import { findFund } from '../store/ledger/funds.js'
import { isTokenTank } from '../store/ledger/tanks.js'
import { tankLimits } from './sponsoredDraft.js'
import { createPayers, type SponsorshipPayer } from './tank/payer.js'
import { withTankRoom } from './tank/tankRoom.js'
import { tokenTankLimits, withTankLimits } from './tank/withTankLimits.js'

type Advice = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'tokens'> & ChargingChain
  /** The size of bundle that estimates for the EntryPoint reckon with. */
  bundleSize(entryPoint: EntryPoint): Promise<number>
  /** The advice of the chain. */
  fees(): Promise<FeeAdvice>
  /** The price of data at the head; undefined on a chain that has none. */
  dataPrice(): Promise<DataPrice | undefined>
  estimate(entryPoint: EntryPoint, draft: Draft, override?: StateOverride): Promise<GasEstimate>
}

/** The fees and limits that an app's clients are advised to use, before they ask for sponsorship. */
export type AppFees = {
  fees(appId: string): Promise<FeeAdvice>
  /**
   * The chain's estimate, with what the app's tank will need: room for one that is not in the
   * operation yet, and for one that is, the limits that it signs.
   */
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
export function createAppFees(advice: Advice): AppFees {
  const { database, definition, fees, estimate } = advice
  const payers = createPayers(advice)
  const isNative = async (appId: string): Promise<boolean> =>
    (await findFund(database, appId, definition.chainId))?.mode === 'native'
  return {
    fees: async (appId) =>
      (await isNative(appId)) ? { slow: noFees, standard: noFees, fast: noFees } : fees(),
    estimate: async (entryPoint, draft, override, appId) => {
      const { payer } = await payers.findPayer(appId, entryPoint)
      if (draft.paymaster !== undefined) {
        return estimate(entryPoint, await withLimits(advice, entryPoint, draft, payer), override)
      }
      if (payer === undefined) return estimate(entryPoint, draft, override)
      if (payer.tank === undefined) return estimate(entryPoint, withoutFees(draft), override)
      const measured = await estimate(entryPoint, draft, override)
      // A gas tank returns no context.
      const bundleSize = await advice.bundleSize(entryPoint)
      const share = { ...expectedShare(definition, bundleSize), contextSize: 0 }
      const price = await advice.dataPrice()
      return withTankRoom(measured, entryPoint, draft, payer.tank.address, share, price)
    },
  }
}

function withoutFees(draft: Draft): Draft {
  const { maxFeePerGas, maxPriorityFeePerGas } = draft
  const offersOwn = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
  return offersOwn ? draft : { ...draft, ...noFees }
}

/** The draft with the limits of its paymaster that a tank of ours will sign, where it is one. */
async function withLimits(
  { database, definition: { chainId, tokens } }: Advice,
  entryPoint: EntryPoint,
  draft: Draft,
  payer: SponsorshipPayer | undefined,
): Promise<Draft> {
  const { paymaster } = draft
  if (paymaster === undefined || !entryPoint.hasPaymasterLimits) return draft
  if (paymaster === payer?.tank?.address)
    return withTankLimits(draft, tankLimits(entryPoint, draft))
  const ofTokens = tokenTankLimits(draft, tokens)
  if (ofTokens === undefined) return draft
  const isOurs = await isTokenTank(database, chainId, entryPoint.address, paymaster)
  return isOurs ? withTankLimits(draft, ofTokens) : draft
}
