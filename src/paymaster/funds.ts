import { TankError } from '../errors/tankErrors.js'
import type { Database, Transaction } from '../store/database.js'
import { alarmSince } from '../store/ledger/alarms.js'
import { addToCounters } from '../store/ledger/budgetCounters.js'
import {
  findFund,
  insertCredit,
  putFund,
  readCreditUse,
  recentSpending,
  type StoredFund,
} from '../store/ledger/funds.js'
import { lockReserving } from '../store/ledger/reservations.js'
import type { FundMode } from '../store/schema.js'
import { type AlarmTerms, type Runway, runwayOf, SPENDING_DAYS } from './runway.js'
import { creditCounter } from './tank/payer.js'

/** An app's prepaid credit on a chain. All in wei. */
export type CreditState = {
  /** What was credited and is not spent. */
  readonly balance: bigint
  /** Of the balance, reserved for sponsorships that are not settled. */
  readonly locked: bigint
  readonly available: bigint
  readonly runway: Runway
}

export type FundState = {
  readonly mode: FundMode
  readonly alarm: AlarmTerms
  readonly credit: CreditState
  /** The alarm of the credit is on. */
  readonly isLow: boolean
}

/** What apps pay with on one chain, for an operator's commands. All throw TankError for their mistakes. */
export type Funds = {
  /** The mode counts from the next sponsorship on; what was sponsored before is settled as it was. */
  setMode(appId: string, mode: FundMode): Promise<FundState>
  setAlarm(appId: string, terms: Partial<AlarmTerms>): Promise<FundState>
  /**
   * Adds `wei` to the app's credit, or takes them when negative, but not what is spent or reserved.
   * The same reference a second time changes nothing.
   */
  credit(appId: string, wei: bigint, reference: string): Promise<FundState>
  show(appId: string): Promise<FundState>
}

type FundsContext = { readonly database: Database; readonly chainId: number }

export function createFunds({ database, chainId }: FundsContext): Funds {
  const stateOf = async (fund: StoredFund | undefined): Promise<FundState> => ({
    mode: fund?.mode ?? 'tank',
    alarm: alarmOf(fund),
    credit: fund === undefined ? noCredit : await creditOf(database, chainId, fund),
    isLow: fund !== undefined && (await alarmSince(database, fund.id)) !== undefined,
  })

  const take = async (trx: Transaction, fund: StoredFund, wei: bigint): Promise<void> => {
    const { used } = await readCreditUse(trx, fund.id)
    const available = fund.credited - used
    if (available < wei) {
      throw new TankError(
        `The app has ${available} wei of credit that are neither spent nor reserved, less than ${wei} wei.`,
      )
    }
    const change = { ...creditCounter, bucket: BigInt(creditCounter.bucket), policyId: fund.id }
    await addToCounters(trx, [{ ...change, used: wei, settled: wei }], { create: true })
  }

  const show = async (appId: string): Promise<FundState> =>
    stateOf(await findFund(database, appId, chainId))

  return {
    setMode: async (appId, mode) => stateOf(await putFund(database, appId, chainId, { mode })),

    setAlarm: async (appId, { wei, days }) => {
      const change = {
        ...(wei !== undefined && { alarmWei: wei }),
        ...(days !== undefined && { alarmDays: days }),
      }
      return stateOf(await putFund(database, appId, chainId, change))
    },

    async credit(appId, wei, reference) {
      const { id } = await putFund(database, appId, chainId, {})
      await database.transaction().execute(async (trx) => {
        await lockReserving(trx, [id])
        const known = await insertCredit(trx, { fundId: id, amount: wei, reference })
        if (known !== undefined && known !== wei) {
          throw new TankError(
            `Reference ${reference} stands for ${known} wei already; use another one.`,
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

/** Of an app that nothing was said about. */
const defaultAlarm: AlarmTerms = { wei: 0n, days: 3 }

export function alarmOf(fund: StoredFund | undefined): AlarmTerms {
  return fund === undefined ? defaultAlarm : { wei: fund.alarm_wei, days: fund.alarm_days }
}
