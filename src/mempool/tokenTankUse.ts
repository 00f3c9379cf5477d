import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { Database } from '../store/database.js'
import { isTokenTank } from '../store/ledger/tanks.js'
import type { Observed } from '../validation/engine.js'
import type { StakePolicy } from '../validation/erc7562/index.js'

/** Bytes that a token tank's data has at least; no other tank of ours has as many. */
const LEAST_DATA = 158
/** The mode in which the tank takes its charge when the operation has run. */
const AFTERWARDS = '01'

/** What a token tank of ours means for an operation; undefined = it has none. */
export type TokenTankUse = { readonly chargesAfterwards: boolean }

export async function tokenTankUse(
  database: Database,
  chainId: number,
  { address }: Pick<EntryPoint, 'address'>,
  { paymaster, paymasterData }: Operation,
): Promise<TokenTankUse | undefined> {
  if (paymaster === undefined || paymasterData.length < 2 + 2 * LEAST_DATA) return undefined
  const isOurs = await isTokenTank(database, chainId, address, paymaster)
  return isOurs ? { chargesAfterwards: paymasterData.slice(2, 4) === AFTERWARDS } : undefined
}

/**
 * A token tank of ours counts as staked: it writes to a token and returns a context, which only staked
 * paymasters may (STO-031, EREP-050), and the stake is against the harm that a stranger's could do.
 */
export function withStakedTank(
  observed: Observed,
  use: TokenTankUse | undefined,
  { minimumStake, minimumUnstakeDelay }: StakePolicy,
): Observed {
  if (use === undefined) return observed
  const paymaster = { stake: minimumStake, unstakeDelay: minimumUnstakeDelay }
  return { ...observed, stakes: { ...observed.stakes, paymaster } }
}
