import { greatest } from '../base/bigints.js'
import { RateLimitError } from '../base/errors/limitErrors.js'
import { CannotSimulateError } from '../base/errors/simulationErrors.js'
import type { Requester } from '../base/requester.js'
import { adviseFees } from '../chain/fees.js'
import type { Config } from '../config/options.js'
import type { Database } from '../db/database.js'
import { dataPriceAt } from '../gas/dataPrice.js'
import { type RehearsalContext, rehearseOperation } from '../gas/rehearseOperation.js'
import { createAppFees } from '../paymaster/appFees.js'
import { alertOf, creditOf } from '../paymaster/funds.js'
import { findFund, listFunds } from '../paymaster/ledger/funds.js'
import { listTanks } from '../paymaster/ledger/tanks.js'
import { spentBudgets } from '../paymaster/policy/budgetForecast.js'
import { parseUsd, toMicroUsd } from '../paymaster/policy/price.js'
import { type AlertTerms, isLow, type Runway, runwayOf } from '../paymaster/runway.js'
import { tankLevel } from '../paymaster/tankLevel.js'
import { type PastSpend, readGroups, readPast } from '../records/rehearsal.js'
import {
  forecastSpending,
  growthOf,
  type Rehearsal,
  type RehearsalQuestion,
  type Rehearsed,
} from '../records/rehearsalReport.js'
import type { OpenChain } from './openChain.js'

type RehearsalParts = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly config: Pick<Config, 'nativePrices'>
}

/** Nobody's request waits behind rehearsals, nor the validations of the next bundle. */
const rehearsals: Requester = {
  name: 'rehearsals',
  since: 0,
  spent: 0,
  spend() {},
  beginHeavyWork() {},
}

/**
 * Runs recorded operations of a chain by the rules of a fork, one after the other, and says what follows for budgets and
 * funds. One rehearsal of a chain at a time; another one throws RateLimitError.
 */
export function createRehearsals(
  chain: OpenChain,
  parts: RehearsalParts,
): (question: RehearsalQuestion) => Promise<Rehearsal> {
  let isUnderWay = false
  return async (question) => {
    if (isUnderWay) throw new RateLimitError('rehearsals', 10)
    isUnderWay = true
    try {
      return await rehearse(chain, parts, question)
    } finally {
      isUnderWay = false
    }
  }
}

async function rehearse(
  chain: OpenChain,
  { database, masterKey, config }: RehearsalParts,
  { fork, limit, mostTime, ...span }: RehearsalQuestion,
): Promise<Rehearsal> {
  const { definition, engine, node } = chain
  const { chainId } = definition
  const end = performance.now() + mostTime
  const head = await chain.heads.refresh()
  const advice = await adviseFees(node, head, definition)
  const dataPrice = await dataPriceAt(node, definition.dataFee, head)
  const contextOf = ({ appId, sharedBy }: PastSpend): RehearsalContext => ({
    node,
    engine: engine.by(rehearsals),
    definition,
    advice,
    dataPrice,
    fork,
    ofApp: (estimate) => {
      const forApp = createAppFees({
        database,
        masterKey,
        node,
        definition,
        estimate: (entryPoint, draft, { override }) => estimate(entryPoint, draft, override),
        bundleSize: async () => sharedBy,
        fees: async () => advice,
        dataPrice: async () => dataPrice,
      })
      // What a tank has signed for it stands in the operation, and fitted the rules of then.
      return (entryPoint, draft) =>
        draft.paymaster === undefined
          ? forApp.estimate(entryPoint, draft, { appId, requester: rehearsals })
          : estimate(entryPoint, draft)
    },
  })
  const totals = await readGroups(database, { chainId, ...span })
  const operations: Rehearsed[] = []
  for (const past of await readPast(database, { chainId, ...span }, limit)) {
    if (performance.now() >= end) break
    operations.push({ ...past, outcome: await outcomeOf(chain, contextOf(past), past) })
  }
  const price = config.nativePrices[String(chainId)]
  const coming = engine.coming()
  return {
    at: coming?.fork === fork ? new Date(coming.activation * 1_000) : null,
    recorded: totals.reduce((count, each) => count + each.operations, 0n),
    spending: forecastSpending(totals, operations),
    budgets: await budgetsOf(database, operations, {
      since: Math.floor(span.from.getTime() / 1_000),
      now: head.timestamp,
      usd: price === undefined ? undefined : parseUsd(price),
    }),
    funds: await fundsOf(chain, database, operations),
    operations,
  }
}

/** undefined = nothing can be said of it: it cannot be repeated, or its EntryPoint is not served any more. */
async function outcomeOf(
  { entryPoints, logger }: OpenChain,
  context: RehearsalContext,
  past: PastSpend,
): Promise<Rehearsed['outcome']> {
  const entryPoint = entryPoints.find(({ address }) => address === past.entryPoint)
  if (entryPoint === undefined) return undefined
  try {
    const { failure, ...outcome } = await rehearseOperation(context, entryPoint, past)
    const code = failure && (failure.rule ?? String(failure.code))
    return {
      ...outcome,
      failure: code === undefined ? undefined : { code, message: failure?.message ?? '' },
    }
  } catch (error) {
    if (!(error instanceof CannotSimulateError)) throw error
    logger.debug({ op: past.hash, reason: error.message }, 'an operation cannot be rehearsed')
    return undefined
  }
}

type BudgetFacts = {
  /** Unix seconds. */
  readonly since: number
  readonly now: number
  /** Millionths of a USD for 10^18 wei. */
  readonly usd: bigint | undefined
}

async function budgetsOf(
  database: Database,
  operations: readonly Rehearsed[],
  { since, now, usd }: BudgetFacts,
): Promise<Rehearsal['budgets']> {
  const budgets: Rehearsal['budgets'][number][] = []
  for (const [policyId, own] of groupedBy(operations, (each) => each.policyId)) {
    const [first] = own
    const grown = growthOf(own)
    if (policyId === null || first === undefined || grown === undefined) continue
    const { accountId, policyName } = first
    const mostReserved = (unit: string) => {
      const inUnit = (wei: bigint) => (unit === 'wei' ? wei : usd && toMicroUsd(wei, usd))
      const used = inUnit(greatest(0n, ...own.map((each) => each.maxCost)))
      const forecast = inUnit(greatest(0n, ...own.map((each) => each.outcome?.maxCost ?? 0n)))
      return used === undefined || forecast === undefined ? undefined : { used, forecast }
    }
    const spent = await spentBudgets(
      database,
      { accountId, policyId },
      { since, now, grown, mostReserved },
    )
    budgets.push(...spent.map((budget) => ({ ...budget, policyId, policyName })))
  }
  return budgets
}

async function fundsOf(
  { node, definition: { chainId } }: OpenChain,
  database: Database,
  operations: readonly Rehearsed[],
): Promise<Rehearsal['funds']> {
  const funds: Rehearsal['funds'][number][] = []
  for (const tank of await listTanks(database, chainId)) {
    const grown = growthOf(
      operations.filter(
        ({ entryPoint, paymaster }) =>
          entryPoint === tank.entry_point && paymaster === tank.address,
      ),
    )
    if (grown === undefined) continue
    const { deposit, locked, runway } = await tankLevel({ database, node, chainId }, tank)
    const fund = tank.app_id === null ? undefined : await findFund(database, tank.app_id, chainId)
    const lasting = runwaysOf({ available: deposit - locked, runway }, grown, alertOf(fund))
    funds.push({ kind: 'tank', id: tank.id, appId: tank.app_id, ...lasting })
  }
  const byApp = groupedBy(operations, ({ appId }) => appId)
  for (const fund of await listFunds(database, chainId)) {
    const grown = growthOf(byApp.get(fund.app_id) ?? [])
    if (fund.mode === 'tank' || grown === undefined) continue
    const lasting = runwaysOf(await creditOf(database, chainId, fund), grown, alertOf(fund))
    funds.push({ kind: 'credit', id: fund.id, appId: fund.app_id, ...lasting })
  }
  return funds
}

/** How long a tank or a credit lasts by either cost. */
function runwaysOf(
  { available, runway }: { readonly available: bigint; readonly runway: Runway },
  grown: (amount: bigint) => bigint,
  terms: AlertTerms,
) {
  const forecast = runwayOf(available, { spent: grown(runway.daily), days: 1 })
  const shown = ({ daily, days }: Runway) => ({ daily, days: days ?? null })
  return {
    available,
    now: shown(runway),
    forecast: shown(forecast),
    low: isLow(available, forecast, terms),
  }
}

function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key) {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
