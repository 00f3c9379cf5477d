import { z } from 'zod'
import { NotFoundError } from '../../../../errors/restErrors.js'
import {
  findBundle,
  type ListedBundle,
  listBundles,
  listReputations,
  poolSummary,
} from '../../../../store/records/chainRecords.js'
import { address, listOf, pageOf, pageQuery, time, wei } from '../../../adminSchemas.js'
import { cursorNumber } from '../../cursor.js'
import { type Route, route } from '../../route.js'
import { chainId, hash } from './period.js'
import { servedChain } from './servedChain.js'

const params = z.object({ chainId })

const fees = z.object({ maxFeePerGas: wei, maxPriorityFeePerGas: wei })

const bundle = z.object({
  bundleId: z.string(),
  kind: z.enum(['operations', 'filler', 'refill']),
  entryPoint: address.nullable(),
  executor: address,
  nonce: z.string(),
  operations: z.int(),
  attempts: z.int(),
  state: z.enum(['signed', 'included', 'reverted', 'abandoned', 'cancelled']),
  transactionHash: hash.nullable(),
  /** wei that the mined transaction cost its sender. */
  cost: wei.nullable(),
  createdAt: time,
  updatedAt: time,
})

function encodeBundle(row: ListedBundle) {
  return {
    bundleId: row.id,
    kind: row.kind,
    entryPoint: row.entry_point,
    executor: row.executor,
    nonce: row.nonce,
    operations: row.operation_count,
    attempts: Number(row.attempts),
    state: row.state,
    transactionHash: row.transaction_hash,
    cost: row.cost,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** The chains that are served, and for the operator what the bundler does on them. */
export const chainRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/chains',
    summary: 'The chains that are served: EntryPoints, addresses, head and fees',
    who: 'either',
    role: 'viewer',
    answer: listOf(
      z.object({
        chainId: z.int(),
        entryPoints: z.array(z.object({ address, version: z.string() })),
        /** Paths below the service, to be completed with an API key. */
        endpoints: z.object({ classic: z.string(), standard: z.string() }),
        /** Null where no head was read within the time that readiness allows. */
        head: z.int().nullable(),
        headAge: z.int().nullable(),
        bundled: z.boolean(),
      }),
    ),
    async run({ context }) {
      const { chains: states } = await context.readiness({ chainId: undefined, role: 'api' })
      return {
        items: [...context.chains.values()].map(({ chainId: id, entryPoints }) => {
          const { head = null, headAge = null, bundled = false } = states[id] ?? {}
          return {
            chainId: id,
            entryPoints: [...entryPoints.values()].map((each) => ({
              address: each.address,
              version: each.version,
            })),
            endpoints: {
              classic: `/api/v2/${id}/{apiKey}`,
              standard: `/api/v3/${id}/{apiKey}`,
            },
            head,
            headAge: headAge === null ? null : Math.round(headAge),
            bundled,
          }
        }),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/fees/{chainId}',
    summary: 'The fees that an operation of the app should offer now',
    who: 'account',
    role: 'viewer',
    params: z.object({ appId: z.uuid(), chainId }),
    answer: z.object({ slow: fees, standard: fees, fast: fees }),
    run: ({ context, app, params: { chainId: id } }) => servedChain(context, id).fees(app.id),
  }),
  route({
    method: 'GET',
    path: '/chains/{chainId}/pool',
    summary: 'How many operations wait, since when, and for which tips',
    who: 'operator',
    params,
    answer: z.object({
      pooled: z.string(),
      bundled: z.string(),
      oldestAt: time.nullable(),
      /** wei per gas */
      tips: z.object({
        p10: z.number().nullable(),
        p50: z.number().nullable(),
        p90: z.number().nullable(),
      }),
    }),
    run: ({ context, params: { chainId: id } }) => poolSummary(context.database, id),
  }),
  route({
    method: 'GET',
    path: '/chains/{chainId}/bundles',
    summary: 'The transactions of the executors, newest first',
    who: 'operator',
    params,
    query: pageQuery,
    answer: pageOf(bundle),
    async run({ context, params: { chainId: id }, query: { limit, before } }) {
      const page = { limit, before: cursorNumber(before) }
      const { items, next } = await listBundles(context.database, id, page)
      return { items: items.map(encodeBundle), next }
    },
  }),
  route({
    method: 'GET',
    path: '/chains/{chainId}/bundles/{bundleId}',
    summary: 'One bundle with each signed transaction and its operations',
    who: 'operator',
    params: params.extend({ bundleId: z.string().regex(/^\d{1,18}$/) }),
    answer: bundle.extend({
      transactions: z.array(
        z.object({
          hash,
          maxFeePerGas: wei,
          maxPriorityFeePerGas: wei,
          maxCost: wei,
          noop: z.boolean(),
          createdAt: time,
        }),
      ),
      userOpHashes: z.array(hash),
    }),
    async run({ context, params: { chainId: id, bundleId } }) {
      const record = await findBundle(context.database, id, BigInt(bundleId))
      if (record === undefined) throw new NotFoundError('Bundle')
      const { transactions, hashes } = record
      return {
        ...encodeBundle({ ...record.bundle, attempts: BigInt(transactions.length) }),
        transactions: transactions.map((each) => ({
          hash: each.hash,
          maxFeePerGas: each.max_fee_per_gas,
          maxPriorityFeePerGas: each.max_priority_fee_per_gas,
          maxCost: each.max_cost,
          noop: each.noop,
          createdAt: each.created_at,
        })),
        userOpHashes: hashes,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/chains/{chainId}/executors',
    summary:
      'Executors and treasury with balance and state; empty where this process never bundles',
    who: 'operator',
    params,
    answer: listOf(
      z.object({
        role: z.enum(['executor', 'treasury']),
        address,
        state: z.enum(['ready', 'busy', 'resting']),
        balance: wei,
        inFlight: z.int(),
      }),
    ),
    async run({ context, params: { chainId: id } }) {
      servedChain(context, id)
      const { chains } = await context.readiness({ chainId: undefined, role: 'api' })
      return { items: chains[id]?.executors ?? [] }
    },
  }),
  route({
    method: 'GET',
    path: '/chains/{chainId}/reputation',
    summary: 'Operations seen and included of each entity (ERC-7562), by address',
    who: 'operator',
    params,
    query: pageQuery,
    answer: pageOf(
      z.object({ entryPoint: address, address, opsSeen: z.string(), opsIncluded: z.string() }),
    ),
    async run({ context, params: { chainId: id }, query: { limit, before } }) {
      const { items, next } = await listReputations(context.database, id, { limit, before })
      const encoded = items.map((row) => ({
        entryPoint: row.entry_point,
        address: row.address,
        opsSeen: row.ops_seen,
        opsIncluded: row.ops_included,
      }))
      return { items: encoded, next }
    },
  }),
  route({
    method: 'GET',
    path: '/chains/{chainId}/nodes',
    summary: 'The nodes of a chain as this process knows them, preferred first',
    who: 'operator',
    params,
    answer: listOf(
      z.object({
        host: z.string(),
        behind: z.boolean(),
        restsUntil: time.nullable(),
        /** Methods that it is not asked at the moment. */
        failing: z.array(z.string()),
      }),
    ),
    async run({ context, params: { chainId: id } }) {
      const nodes = context.nodesOf(id)
      if (nodes === undefined) throw new NotFoundError('Chain')
      return { items: nodes.map(({ restsUntil = null, ...node }) => ({ ...node, restsUntil })) }
    },
  }),
]
