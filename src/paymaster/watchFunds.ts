import type { Logger } from 'pino'
import type { NodeClient } from '../chain/nodeClient.js'
import type { Database } from '../db/database.js'
import { emitEvent } from '../db/events.js'
import { alertOf, creditOf } from './funds.js'
import { endOtherAlerts, setAlert } from './ledger/alerts.js'
import { findFund, listFunds } from './ledger/funds.js'
import { listTanks } from './ledger/tanks.js'
import { type AlertTerms, isLow, type Runway } from './runway.js'
import { tankLevel } from './tankLevel.js'

type WatchContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly chainId: number
  readonly logger: Logger
}

/** The level of one tank or credit, with the app that it concerns. */
type Level = {
  /** The id of the tank, or of the fund whose credit it is. */
  readonly holder: string
  /** null = the operator */
  readonly appId: string | null
  readonly available: bigint
  readonly runway: Runway
  readonly terms: AlertTerms
  /** Facts for people and events. */
  readonly facts: Readonly<Record<string, unknown>>
}

const INTERVAL = 60_000

/** The money of a tank or credit at the last look. */
export type FundLevel = {
  /** null = the operator */
  readonly appId: string | null
  /** wei */
  readonly available: bigint
  /** undefined = nothing is spent, so it lasts for ever */
  readonly days: number | undefined
  /** Somebody subscribed to its low-balance alert. */
  readonly hasAlert: boolean
  /** The alert is on: less is available than it says. */
  readonly low: boolean
}

/** Checks the tanks and credits of a chain once a minute. `stop` waits for a check under way. */
export function watchFunds(context: WatchContext) {
  let running = Promise.resolve()
  let levels: readonly FundLevel[] = []
  const check = () => {
    running = running
      .then(async () => {
        levels = await checkFunds(context)
      })
      .catch((err: unknown) => context.logger.warn({ err }, 'the gas tanks could not be checked'))
  }
  check()
  const timer = setInterval(check, INTERVAL)
  timer.unref()
  return {
    /** Of the last check that ended. */
    levels: () => levels,
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}

/**
 * Turns alerts on where money runs low, and off where it was filled; each change is reported once.
 * Returns the levels.
 */
export async function checkFunds(context: WatchContext): Promise<readonly FundLevel[]> {
  const levels = [...(await tankLevels(context)), ...(await creditLevels(context))]
  for (const level of levels) await checkLevel(context, level)
  const watched = levels.map(({ holder }) => holder)
  await endOtherAlerts(context.database, context.chainId, watched)
  return levels.map(({ appId, available, runway, terms }) => ({
    appId,
    available,
    days: runway.days,
    hasAlert: terms.wei > 0n || terms.days > 0,
    low: isLow(available, runway, terms),
  }))
}

async function checkLevel(
  { database, chainId, logger }: WatchContext,
  level: Level,
): Promise<void> {
  const { holder, appId, available, runway, terms, facts } = level
  const low = isLow(available, runway, terms)
  const data = { chainId, ...facts, available: String(available), days: runway.days ?? null }
  const changed = await database.transaction().execute(async (trx) => {
    const changed = await setAlert(trx, holder, low)
    if (changed && low && appId !== null) await emitEvent(trx, appId, 'tank.low', data)
    return changed
  })
  if (!changed) return
  if (low) logger.warn({ appId, ...data }, 'a gas tank runs low')
  else logger.info({ appId, ...data }, 'a gas tank was refilled')
}

/** The levels of tanks. An app's tank for gas is watched while the app pays from it, others always. */
async function tankLevels(context: WatchContext): Promise<Level[]> {
  const { database, chainId } = context
  const levels: Level[] = []
  for (const tank of await listTanks(database, chainId)) {
    const { app_id: appId } = tank
    const fund = appId === null ? undefined : await findFund(database, appId, chainId)
    if (tank.kind === 'gas' && fund !== undefined && fund.mode !== 'tank') continue
    const { deposit, locked, runway } = await tankLevel(context, tank)
    levels.push({
      holder: tank.id,
      appId,
      runway,
      available: deposit - locked,
      terms: alertOf(fund),
      facts: { tank: tank.address, entryPoint: tank.entry_point },
    })
  }
  return levels
}

async function creditLevels({ database, chainId }: WatchContext): Promise<Level[]> {
  const levels: Level[] = []
  for (const fund of await listFunds(database, chainId)) {
    if (fund.mode === 'tank') continue
    const { available, runway } = await creditOf(database, chainId, fund)
    levels.push({
      holder: fund.id,
      appId: fund.app_id,
      available,
      runway,
      terms: alertOf(fund),
      facts: { mode: fund.mode },
    })
  }
  return levels
}
