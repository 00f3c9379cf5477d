import { z } from 'zod'
import type { Contracts } from './contract.js'
import { address, appParams, listOf, time, wei } from './schemas.js'

const units = z.string().regex(/^\d{1,78}$/, 'must be smallest units of the token')

const book = z.object({
  chainId: z.int(),
  tank: address,
  token: address,
  collected: units,
  /** Collected and not held any more, of all apps that use the tank. */
  withdrawn: units,
  /** By the tank, of all apps that use it. */
  held: units,
  /** The most that live quotes may still bring in. */
  promised: units,
  payments: z.int(),
  missed: z.int(),
  /** The cost of missed payments to the tank. */
  lost: wei,
})

/** Whole tokens for one native coin. */
const price = z.string().regex(/^\d{1,60}(\.\d{1,18})?$/)

const priceSource = z.object({
  kind: z.enum(['fixed', 'feeds', 'http']),
  /** The host of a server, or the addresses of feeds: of the token, then of the native coin. */
  names: z.array(z.string()),
  /** Null = the source gives none that can be relied on, and `reason` says why; both null = it was not asked. */
  price: price.nullable(),
  reason: z.string().nullable(),
  /** When the older of the feeds was updated; null where the source does not say. */
  updatedAt: time.nullable(),
  /** Seconds after which the slowest feed counts as stale. */
  heartbeat: z.int().nullable(),
})

const pricedToken = z.object({
  chainId: z.int(),
  address,
  symbol: z.string(),
  name: z.string(),
  decimals: z.int(),
  /** Millionths of the cost that are charged: 1000000 = the cost itself. */
  markup: z.int(),
  /** Null = there is no price that can be relied on, and nobody can pay in the token; `reason` says why. */
  price: price.nullable(),
  reason: z.string().nullable(),
  /** When the sources were asked; null = the node of the chain does not answer. */
  readAt: time.nullable(),
  /** Sources that must answer. */
  minimumSources: z.int(),
  /** Millionths by which the highest price may exceed the lowest. */
  maxDeviation: z.int(),
  sources: z.array(priceSource),
  /** What operations of the account paid in the token, by the chain's events. */
  taken: z.object({ collected: units, payments: z.int(), missed: z.int(), lost: wei }),
})

/** Tokens are withdrawn by a command, which holds the owner's key for it. */
export const tokenContracts = {
  'GET /tokens': {
    summary: 'The tokens that gas can be paid with, with their prices, the sources and their age',
    who: 'account',
    role: 'viewer',
    answer: listOf(pricedToken),
  },
  'GET /apps/{appId}/tokens': {
    summary: 'What the operations of an app paid in tokens, by chain, token and tank',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(book),
  },
} as const satisfies Contracts
