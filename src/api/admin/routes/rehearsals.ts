import { z } from 'zod'
import { forks } from '../../../evm/index.js'
import { forecastCost, type Rehearsal, type Rehearsed } from '../../../records/rehearsalReport.js'
import { address, hash, id, time, wei } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

const DAY = 86_400_000
/** Milliseconds in which an answer comes: proxies wait a minute. */
const MOST_TIME = 45_000

/** In the unit: wei or millionths of a USD. */
const amount = z.string()

const costs = z.object({
  operations: z.string(),
  /** Those that were run again, and those of them that fail as they were signed. */
  rehearsed: z.int(),
  failing: z.int(),
  cost: wei,
  /** At the same prices per gas; null = none of them could be run. */
  forecast: wei.nullable(),
})

const runway = z.object({
  daily: wei,
  /** null = nothing is spent */
  days: z.number().nullable(),
})

const operation = z.object({
  userOpHash: hash,
  appId: id,
  appName: z.string(),
  policyId: id.nullable(),
  policyName: z.string().nullable(),
  sender: address,
  entryPoint: address,
  paymaster: address,
  /** The state on which it ran; null = it could not be repeated, so that nothing is known. */
  state: z.enum(['before', 'newest']).nullable(),
  gas: z.string(),
  /** With the limits of a new estimate; null = it fails with these too. */
  forecastGas: z.string().nullable(),
  cost: wei,
  forecastCost: wei.nullable(),
  /** Why it fails as it was signed; null = it does not. */
  code: z.string().nullable(),
  message: z.string().nullable(),
})

const rehearsal = z.object({
  fork: z.enum(forks),
  /** When the chain announces it for; null = it does not. */
  at: time.nullable(),
  from: time,
  until: time,
  /** Included operations of the time. */
  recorded: z.string(),
  /** By app, policy and payer; those that cost most first. */
  spending: z.array(
    costs.extend({
      appId: id,
      appName: z.string(),
      policyId: id.nullable(),
      policyName: z.string().nullable(),
      paidBy: z.enum(['sponsor', 'sender']),
    }),
  ),
  /** Those that would not have been enough; of each the subjects that use most. */
  budgets: z.array(
    z.object({
      policyId: id,
      policyName: z.string().nullable(),
      per: z.string(),
      unit: z.enum(['wei', 'usd', 'count']),
      window: z.string(),
      subject: z.string(),
      limit: amount,
      used: amount,
      forecast: amount,
    }),
  ),
  funds: z.array(
    z.object({
      kind: z.enum(['tank', 'credit']),
      id,
      appId: id.nullable(),
      available: z.string(),
      now: runway,
      forecast: runway,
      /** Whether its alert would be on. */
      low: z.boolean(),
    }),
  ),
  /** Those that were run again, the newest first. */
  operations: z.array(operation),
})

function encodeRehearsal({ activation, ...rest }: Rehearsal) {
  const days = ({ daily, days }: Rehearsal['funds'][number]['runway']) => ({
    daily,
    days: days ?? null,
  })
  return {
    ...rest,
    at: activation === undefined ? null : new Date(activation * 1_000),
    spending: rest.spending.map((each) => ({ ...each, forecast: each.forecast ?? null })),
    funds: rest.funds.map(({ runway, forecast, ...fund }) => ({
      ...fund,
      now: days(runway),
      forecast: days(forecast),
    })),
    operations: rest.operations.map((each) => ({
      ...each,
      userOpHash: each.hash,
      state: stateOf(each),
      forecastGas: each.outcome?.gas ?? null,
      forecastCost: forecastCost(each) ?? null,
      code: each.outcome?.failure?.code ?? null,
      message: each.outcome?.failure?.message ?? null,
    })),
  } as const
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
      return made && { fork, from, until, ...encodeRehearsal(made) }
    },
  }),
]
