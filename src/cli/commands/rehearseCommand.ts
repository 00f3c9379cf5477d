import { writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { rehearsalRoutes } from '../../api/admin/routes/rehearsals.js'
import { runRoute } from '../../api/admin/runRoute.js'
import type { AdminAnswer } from '../../api/contracts/createAdminClient.js'
import { ConfigError } from '../../base/errors/configError.js'
import { PurserError } from '../../base/errors/purserError.js'
import { forks } from '../../evm/index.js'
import { openChain } from '../../service/openChain.js'
import { createRehearsals } from '../../service/rehearsals.js'
import { createSimulations } from '../../simulation/simulations.js'
import { createMetrics } from '../../telemetry/createMetrics.js'
import { type Coins, chainOf, coinsOf } from '../chainOf.js'
import { commandActor } from '../commandActor.js'
import { createLogger } from '../createLogger.js'
import { csvOf } from '../../records/statements/csvOf.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'

type Answer = AdminAnswer<'GET /chains/{chainId}/rehearsal'>

/** `purser rehearse`: what the rules of a fork make of recorded operations. */
export function defineRehearseCommand(command: Command): void {
  command
    .requiredOption('--chain <id>', 'its chain')
    .addOption(new Option('--fork <name>', 'the rules').choices(forks).makeOptionMandatory())
    .option('--days <number>', 'how far back, 1 to 31', '7')
    .option('--limit <number>', 'operations that are run, 1 to 2000', '1000')
    .option('--csv <file>', 'write each operation into this file')
    .option('--json', 'print the response of the admin API as JSON')
  onStore(
    command,
    async ({ store, config, flags }) => {
      const { database } = store
      const { fork, days, limit, csv, json } = flags
      const { chain } = chainOf(config, flags.chain ?? '')
      const logger = createLogger('error')
      const simulations = createSimulations({ workers: 1, logger })
      try {
        const parts = { database, metrics: createMetrics(), simulations, logger }
        const opened = await openChain(chain, parts)
        try {
          const made = createRehearsals(opened, {
            database,
            config,
            masterKey: store.masterKey(),
          })
          // Nobody waits at a proxy.
          const rehearse: typeof made = (question) =>
            made({ ...question, mostTime: Number.POSITIVE_INFINITY })
          const answer = await ask({ database, rehearse }, chain.chainId, { fork, days, limit })
          if (csv !== undefined) writeFileSync(csv, csvOf(answer.operations))
          if (json === undefined) print(answer, coinsOf(chain))
          else console.log(JSON.stringify(answer, undefined, 2))
        } finally {
          await opened.close()
        }
      } finally {
        await simulations.close()
      }
    },
    ['chains', 'nativePrices'],
  )
}

type Around = Parameters<typeof runRoute>[3]['context'] & {
  readonly rehearse: ReturnType<typeof createRehearsals>
}

/** The answer of the admin API, whose checks hold for flags too. */
async function ask(
  { database, rehearse }: Around,
  chainId: number,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  const [route] = rehearsalRoutes
  const caller = { accountId: undefined, actor: commandActor(), user: undefined }
  const asked = { params: { chainId: String(chainId) }, query, body: async () => undefined }
  const context = {
    database,
    rehearse: (_: number, question: Parameters<typeof rehearse>[0]) => rehearse(question),
  }
  try {
    return (await runRoute(route as never, caller, asked, { context })) as Answer
  } catch (error) {
    const field = error instanceof PurserError ? error.data?.field : undefined
    if (typeof field !== 'string') throw error
    throw new ConfigError(`--${(error as Error).message}.`)
  }
}

function print({ operations, spending, budgets, funds, ...answer }: Answer, coins: Coins): void {
  const known = operations.filter(({ state }) => state !== null)
  const newest = known.filter(({ state }) => state === 'newest')
  const inCoins = (wei: string | null) => (wei === null ? '-' : coins(BigInt(wei)))
  console.log(
    `${known.length} of ${answer.recorded} operations since ${answer.from.slice(0, 10)} were run by the rules of ${answer.fork}.`,
  )
  if (answer.at !== null) console.log(`The chain announces these rules for ${answer.at}.`)
  if (newest.length > 0)
    console.log(
      `${newest.length} of them ran on the newest state, because the node has lost the one that they met: their figures are approximate.`,
    )
  if (operations.length > known.length)
    console.log(
      `${operations.length - known.length} more could not be repeated; nothing is known of them.`,
    )

  console.log('\ncosts')
  printTable(
    spending.map((each) => ({
      app: each.appName,
      policy: each.policyName ?? each.policyId ?? '-',
      paidBy: each.paidBy,
      operations: each.operations,
      run: each.rehearsed,
      failing: each.failing,
      cost: inCoins(each.cost),
      forecast: inCoins(each.forecast),
    })),
  )
  console.log('\nfailures, as they were signed')
  printTable(failuresOf(operations))
  console.log('\nbudgets that would not be enough')
  printTable(
    budgets.map(({ policyId, policyName, unit, ...each }) => {
      const amount = (text: string) =>
        unit === 'wei' ? inCoins(text) : `${Number(text) / 1e6} USD`
      return {
        policy: policyName ?? policyId,
        per: each.per,
        window: each.window,
        subject: each.subject || '-',
        limit: amount(each.limit),
        used: amount(each.used),
        forecast: amount(each.forecast),
      }
    }),
  )
  console.log('\ntanks and credit')
  printTable(
    funds.map(({ kind, id, appId, available, now, forecast, low }) => ({
      kind,
      id,
      app: appId ?? '-',
      available: inCoins(available),
      days: now.days ?? 'no end',
      forecast: forecast.days ?? 'no end',
      state: low ? 'low' : 'enough',
    })),
  )
}

/** The codes with which operations fail, the most frequent first. */
function failuresOf(operations: Answer['operations']) {
  const codes = new Map<string, { operations: number; never: number; message: string }>()
  for (const { code, message, forecastGas } of operations) {
    if (code === null) continue
    const known = codes.get(code) ?? { operations: 0, never: 0, message: message ?? '' }
    known.operations += 1
    if (forecastGas === null) known.never += 1
    codes.set(code, known)
  }
  return [...codes]
    .map(([code, { operations: count, never, message }]) => ({
      code,
      operations: count,
      'also with new limits': never,
      example: message,
    }))
    .sort((a, b) => b.operations - a.operations)
}
