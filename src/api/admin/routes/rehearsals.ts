import { z } from 'zod'
import { forks } from '../../../evm/index.js'
import { forecastCost, type Rehearsed, rehearsal } from '../../../records/rehearsalReport.js'
import { route } from '../../adminContext.js'

const DAY = 86_400_000
/** Milliseconds in which an answer comes: proxies wait a minute. */
const MOST_TIME = 45_000

function encodeOperation(each: Rehearsed) {
  return {
    ...each,
    userOpHash: each.hash,
    state: stateOf(each),
    forecastGas: each.outcome?.gas ?? null,
    forecastCost: forecastCost(each) ?? null,
    code: each.outcome?.failure?.code ?? null,
    message: each.outcome?.failure?.message ?? null,
  }
}

function stateOf({ outcome }: Rehearsed): 'before' | 'newest' | null {
  if (outcome === undefined) return null
  return outcome.isNewest ? 'newest' : 'before'
}

/** What the rules of a fork would make of the operations that were included recently. */
export const rehearsalRoutes = [
  route('GET /chains/{chainId}/rehearsal', {
    summary: 'Run included operations by the rules of a fork: what fails, costs more, runs out',
    who: 'operator',
    query: z.strictObject({
      fork: z.enum(forks),
      days: z.coerce.number<number>().int().min(1).max(31).default(7),
      /** Operations that are run, the newest of each app first; fewer where they take too long. */
      limit: z.coerce.number<number>().int().min(1).max(2_000).default(100),
    }),
    answer: rehearsal,
    async run({ context, params, query: { fork, days, limit } }) {
      const until = new Date()
      const from = new Date(until.getTime() - days * DAY)
      const question = { fork, from, until, limit, mostTime: MOST_TIME }
      const made = await context.rehearse(params.chainId, question)
      return (
        made && { ...made, fork, from, until, operations: made.operations.map(encodeOperation) }
      )
    },
  }),
]
