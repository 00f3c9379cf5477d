import type { Address } from 'viem'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { StakePolicy } from '../erc4337/rules/index.js'
import { kindOfTank } from '../paymaster/ledger/tanks.js'
import type { Observed } from '../simulation/engine.js'

/** The least bytes of a token tank's data; the data of other tanks of ours is shorter. */
const MIN_DATA_BYTES = 158
/** The mode in which the tank takes its charge after the operation has run. */
const AFTERWARDS = '01'

/** The use of a token tank of ours by an operation. */
export type TokenTankUse = { readonly chargesAfterwards: boolean; readonly token: Address }

/** The operation's use of a token tank of ours; undefined where its paymaster is none. */
export async function tokenTankUse(
  database: Database,
  chainId: number,
  { address }: Pick<EntryPoint, 'address'>,
  { paymaster, paymasterData }: Operation,
): Promise<TokenTankUse | undefined> {
  if (paymaster === undefined || paymasterData.length < 2 + 2 * MIN_DATA_BYTES) return undefined
  if ((await kindOfTank(database, chainId, address, paymaster)) !== 'token') return undefined
  const token: Address = `0x${paymasterData.slice(4, 44)}`
  return { chargesAfterwards: paymasterData.slice(2, 4) === AFTERWARDS, token }
}

/**
 * A token tank of ours counts as staked: it writes to a token and returns a context, which only staked
 * paymasters may (STO-031, EREP-050), and the stake is against the harm that a stranger's could do. The
 * deployment may approve it for its token.
 */
export function withStakedTank(
  observed: Observed,
  use: TokenTankUse | undefined,
  { minimumStake, minimumUnstakeDelay }: StakePolicy,
): Observed {
  if (use === undefined) return observed
  // Where a chain asks for no stake, the tank has one all the same.
  const paymaster = {
    stake: minimumStake > 0n ? minimumStake : 1n,
    unstakeDelay: minimumUnstakeDelay,
  }
  const stakes = { ...observed.stakes, paymaster }
  return observed.kind === 'record'
    ? { ...observed, stakes, paymentToken: use.token }
    : { ...observed, stakes }
}
