import { sql } from 'kysely'
import { formatEther } from 'viem/utils'
import { z } from 'zod'
import { InvalidFieldError } from '../base/errors/restErrors.js'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import type { Database, Transaction } from '../db/database.js'
import type { AuditChange } from '../tenants/audit.js'
import { changeRow, listRows, resource, showRow, updateRow } from '../tenants/resource.js'
import { routesOn } from '../tenants/route.js'
import { listOf, name, wei } from '../tenants/schemas.js'
import { alertSince } from './ledger/alerts.js'
import { addToCounters } from './ledger/budgetCounters.js'
import {
  ensureFund,
  type FundMode,
  findFund,
  insertCredit,
  readCreditUse,
  recentSpending,
  type StoredFund,
} from './ledger/funds.js'
import { lockReserving } from './ledger/reservations.js'
import { type AlertTerms, type Runway, runwayOf } from './runway.js'
import { creditCounter } from './tank/payer.js'

/** The part of a fund that its app may change. */
const alertTerms = z.strictObject({ alertWei: wei, alertDays: z.int().min(0).max(3_650) })

const fund = z.object({
  chainId: z.int(),
  mode: z.enum(['tank', 'shared', 'native']),
  /** wei, ever */
  credited: wei,
  alertWei: wei,
  alertDays: z.int(),
})

/** The way in which an app pays on a chain: mode, credit and alert. */
export const funds = resource({
  name: 'fund',
  table: 'funds',
  shown: fund,
  columns: { chainId: ({ chain_id }) => Number(chain_id) },
  order: sql`chain_id`,
})

/** An app's prepaid credit on a chain. All in wei. */
type CreditBalance = {
  /** The part of the credited wei that is not spent. */
  readonly balance: bigint
  /** The part of the balance that is reserved for sponsorships that are not settled. */
  readonly locked: bigint
  readonly available: bigint
}

type CreditState = CreditBalance & { readonly runway: Runway }

/** The way in which an app pays, with its alert and its credit. */
export type FundState = {
  readonly mode: FundMode
  readonly alert: AlertTerms
  readonly credit: CreditState
  /** Whether the alert of the credit is on. */
  readonly isLow: boolean
}

/** The app's funds on a chain as they are now. */
export async function readFunds(
  database: Database,
  appId: string,
  chainId: number,
): Promise<FundState> {
  const stored = await findFund(database, appId, chainId)
  return {
    mode: stored?.mode ?? 'tank',
    alert: alertOf(stored),
    credit: stored === undefined ? noCredit : await creditOf(database, chainId, stored),
    isLow: stored !== undefined && (await alertSince(database, stored.id)) !== undefined,
  }
}

/** Changes the app's fund from the next sponsorship on; earlier ones settle in the earlier mode. */
export async function changeFund(
  change: AuditChange,
  appId: string,
  chainId: number,
  { mode, alertWei, alertDays }: FundChange,
) {
  await ensureFund(change.trx, appId, chainId)
  const columns = { mode, alert_wei: alertWei, alert_days: alertDays }
  return updateRow(change, funds, placeOf(appId, chainId), columns)
}

type FundChange = {
  readonly mode?: FundMode | undefined
  readonly alertWei?: bigint | undefined
  readonly alertDays?: number | undefined
}

/**
 * Adds `wei` to the app's credit, or takes them when negative, but never spent or reserved wei.
 * The same reference a second time changes nothing. Throws TankError.
 */
export async function creditFund(
  change: AuditChange,
  appId: string,
  chainId: number,
  { wei, reference }: { readonly wei: bigint; readonly reference: string },
): Promise<void> {
  const { trx } = change
  await ensureFund(trx, appId, chainId)
  await changeRow(change, funds, placeOf(appId, chainId), 'credit', async (before) => {
    const { id } = before
    await lockReserving(trx, [id])
    const shown = async (stored: StoredFund) => ({
      ...showRow(funds, stored),
      credit: await creditBalance(trx, stored),
    })
    const entry = { before: await shown(before) }
    const known = await insertCredit(trx, { fundId: id, amount: wei, reference })
    if (known !== undefined && known !== wei)
      throw new TankError(
        `Reference ${reference} was already used for ${known} wei. Use another one.`,
      )
    if (known === undefined && wei < 0n) await take(trx, before, -wei)
    const after = await findFund(trx, appId, chainId)
    return { after: undefined, entry: { ...entry, after: after && (await shown(after)) } }
  })
}

async function take(trx: Transaction, { id, credited }: StoredFund, wei: bigint): Promise<void> {
  const { used } = await readCreditUse(trx, id)
  const available = credited - used
  if (available < wei)
    throw new TankError(
      `The app has ${formatEther(available)} of credit that is neither spent nor reserved, less than ${formatEther(wei)}.`,
    )
  const taken = { ...creditCounter, bucket: BigInt(creditCounter.bucket), policyId: id }
  await addToCounters(trx, [{ ...taken, used: wei, settled: wei }], { create: true })
}

function placeOf(appId: string, chainId: number) {
  return { app_id: appId, chain_id: BigInt(chainId) }
}

const noCredit: CreditState = {
  balance: 0n,
  locked: 0n,
  available: 0n,
  runway: { daily: 0n, days: undefined },
}

/** The present state of a fund's credit. Its runway reads every sponsorship of a week: do not call this while holding locks. */
export async function creditOf(
  database: Database,
  chainId: number,
  stored: StoredFund,
): Promise<CreditState> {
  const { id, app_id: appId } = stored
  const [balance, spending] = await Promise.all([
    creditBalance(database, stored),
    recentSpending(database, { chainId, payer: { appId, fundId: id } }),
  ])
  return { ...balance, runway: runwayOf(balance.available, spending) }
}

async function creditBalance(
  database: Database,
  { id, credited }: StoredFund,
): Promise<CreditBalance> {
  const { used, settled } = await readCreditUse(database, id)
  return { balance: credited - settled, locked: used - settled, available: credited - used }
}

/** The fund of an app as its change answers it, in the transaction that changed it. */
async function changedFund(trx: Transaction, appId: string, chainId: number) {
  const stored = await findFund(trx, appId, chainId)
  if (stored === undefined) throw new Error('a change without a fund')
  return { mode: stored.mode, credit: await creditBalance(trx, stored) }
}

/** The alert of an app that has no settings. */
const defaultAlert: AlertTerms = { wei: 0n, days: 3 }

export function alertOf(fund: StoredFund | undefined): AlertTerms {
  return fund === undefined ? defaultAlert : { wei: fund.alert_wei, days: fund.alert_days }
}

/** What an app pays with on a chain. Amounts in wei. */
const fundState = z.object({
  mode: fund.shape.mode,
  credit: z.object({
    /** Credited and not spent; `locked` of it is reserved. */
    balance: wei,
    locked: wei,
    available: wei,
  }),
})

type FundContext = {
  readonly database: Database
  /** The chains of the configuration, served now or not. */
  chainIds(): ReadonlySet<number>
}

const route = routesOn<FundContext>()

/** Throws InvalidFieldError for a chain that is not configured. */
function requireChain(context: FundContext, chainId: number): void {
  const chainIds = context.chainIds()
  if (!chainIds.has(chainId))
    throw new InvalidFieldError('chainId', `is none of the configured ${[...chainIds]}`)
}

/** Credit is the operator's money, and the mode says whose money is spent: both are the operator's to set. */
export const fundRoutes = [
  route('GET /apps/{appId}/funds', {
    summary: 'How the app pays on each chain, where it is set',
    role: 'viewer',
    answer: listOf(fund),
    run: ({ context, app }) => listRows(context.database, funds, { app_id: app.id }),
  }),
  route('PATCH /apps/{appId}/funds/{chainId}', {
    command: 'alert',
    summary: 'The level, in wei or in days of average use, below which tank.low is sent; 0 = never',
    role: 'admin',
    body: alertTerms.partial(),
    answer: fund,
    run({ context, change, app, params: { chainId }, body: { alertWei, alertDays } }) {
      requireChain(context, chainId)
      return change((audit) =>
        changeFund(audit, app.id, chainId, {
          alertWei: alertWei === undefined ? undefined : BigInt(alertWei),
          alertDays,
        }),
      )
    },
  }),
  route('PATCH /apps/{appId}/funds/{chainId}/mode', {
    command: 'mode',
    summary: "Set what pays for an app's operations from the next sponsorship on",
    who: 'operator',
    body: z.strictObject({ mode: fund.shape.mode }),
    answer: fundState,
    run({ context, change, app, params: { chainId }, body }) {
      requireChain(context, chainId)
      return change(async (audit) => {
        await changeFund(audit, app.id, chainId, body)
        return changedFund(audit.trx, app.id, chainId)
      })
    },
  }),
  route('POST /apps/{appId}/funds/{chainId}/credit', {
    command: 'credit',
    summary: 'Add credit to an app, or remove unused credit (negative); a reference counts once',
    who: 'operator',
    body: z.strictObject({
      wei: z
        .string()
        .regex(/^-?[1-9]\d{0,29}$/, 'must be wei as a decimal number, negative to take'),
      reference: name,
    }),
    answer: fundState,
    run({ context, change, app, params: { chainId }, body: { wei, reference } }) {
      requireChain(context, chainId)
      return change(async (audit) => {
        await creditFund(audit, app.id, chainId, { wei: BigInt(wei), reference })
        return changedFund(audit.trx, app.id, chainId)
      })
    },
  }),
]
