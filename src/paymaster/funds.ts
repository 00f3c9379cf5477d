import { formatEther } from 'viem/utils'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import type { Database, Transaction } from '../db/database.js'
import { inTransaction } from '../db/inTransaction.js'
import { alertSince } from './ledger/alerts.js'
import { addToCounters } from './ledger/budgetCounters.js'
import type { FundMode } from './ledger/funds.js'
import {
  findFund,
  insertCredit,
  putFund,
  readCreditUse,
  recentSpending,
  type StoredFund,
} from './ledger/funds.js'
import { lockReserving } from './ledger/reservations.js'
import { type AlertTerms, type Runway, runwayOf, SPENDING_DAYS } from './runway.js'
import { creditCounter } from './tank/payer.js'

/** An app's prepaid credit on a chain. All in wei. */
type CreditState = {
  /** The part of the credited wei that is not spent. */
  readonly balance: bigint
  /** The part of the balance that is reserved for sponsorships that are not settled. */
  readonly locked: bigint
  readonly available: bigint
  readonly runway: Runway
}

/** The way in which an app pays, with its alert and its credit. */
export type FundState = {
  readonly mode: FundMode
  readonly alert: AlertTerms
  readonly credit: CreditState
  /** Whether the alert of the credit is on. */
  readonly isLow: boolean
}

/** The funds of apps on one chain, for an operator's commands, which throw TankError for mistakes. */
export type Funds = ReturnType<typeof createFunds>

type FundsContext = { readonly database: Database; readonly chainId: number }

export function createFunds({ database, chainId }: FundsContext) {
  const stateOf = async (fund: StoredFund | undefined): Promise<FundState> => ({
    mode: fund?.mode ?? 'tank',
    alert: alertOf(fund),
    credit: fund === undefined ? noCredit : await creditOf(database, chainId, fund),
    isLow: fund !== undefined && (await alertSince(database, fund.id)) !== undefined,
  })

  const take = async (trx: Transaction, fund: StoredFund, wei: bigint): Promise<void> => {
    const { used } = await readCreditUse(trx, fund.id)
    const available = fund.credited - used
    if (available < wei) {
      throw new TankError(
        `The app has ${formatEther(available)} of credit that is neither spent nor reserved, less than ${formatEther(wei)}.`,
      )
    }
    const change = { ...creditCounter, bucket: BigInt(creditCounter.bucket), policyId: fund.id }
    await addToCounters(trx, [{ ...change, used: wei, settled: wei }], { create: true })
  }

  const show = async (appId: string): Promise<FundState> =>
    stateOf(await findFund(database, appId, chainId))

  return {
    /** Sets the mode from the next sponsorship on; earlier sponsorships settle in the earlier mode. */
    setMode: async (appId: string, mode: FundMode) =>
      stateOf(await putFund(database, appId, chainId, { mode })),

    setAlert: async (appId: string, { wei, days }: Partial<AlertTerms>) => {
      const change = {
        ...(wei !== undefined && { alertWei: wei }),
        ...(days !== undefined && { alertDays: days }),
      }
      return stateOf(await putFund(database, appId, chainId, change))
    },

    /**
     * Adds `wei` to the app's credit, or takes them when negative, but never spent or reserved wei.
     * The same reference a second time changes nothing.
     */
    async credit(appId: string, wei: bigint, reference: string): Promise<FundState> {
      const { id } = await putFund(database, appId, chainId, {})
      await inTransaction(database, async (trx) => {
        await lockReserving(trx, [id])
        const known = await insertCredit(trx, { fundId: id, amount: wei, reference })
        if (known !== undefined && known !== wei) {
          throw new TankError(
            `Reference ${reference} was already used for ${known} wei. Use another one.`,
          )
        }
        const fund = await findFund(trx, appId, chainId)
        if (known === undefined && wei < 0n && fund !== undefined) await take(trx, fund, -wei)
      })
      return show(appId)
    },

    show,
  }
}

const noCredit: CreditState = {
  balance: 0n,
  locked: 0n,
  available: 0n,
  runway: { daily: 0n, days: undefined },
}

/** The present state of a fund's credit. */
export async function creditOf(
  database: Database,
  chainId: number,
  { id, app_id: appId, credited }: StoredFund,
): Promise<CreditState> {
  const [{ used, settled }, spending] = await Promise.all([
    readCreditUse(database, id),
    recentSpending(database, { chainId, appId, paymaster: null }, SPENDING_DAYS),
  ])
  const available = credited - used
  return {
    balance: credited - settled,
    locked: used - settled,
    available,
    runway: runwayOf(available, spending),
  }
}

/** The alert of an app that has no settings. */
const defaultAlert: AlertTerms = { wei: 0n, days: 3 }

export function alertOf(fund: StoredFund | undefined): AlertTerms {
  return fund === undefined ? defaultAlert : { wei: fund.alert_wei, days: fund.alert_days }
}
