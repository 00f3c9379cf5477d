import { z } from 'zod'
import { NotFoundError } from '../../../base/errors/restErrors.js'
import { camelCased } from '../../../db/camelCased.js'
import {
  findBundle,
  type ListedBundle,
  listBundles,
  listReputations,
  poolSummary,
  reputationCursor,
  waitingPool,
} from '../../../records/chainRecords.js'
import {
  address,
  hash,
  listOf,
  pageByNumber,
  pageOf,
  pageQuery,
  time,
  wei,
} from '../../../tenants/schemas.js'
import type { AdminContext } from '../../adminContext.js'
import { route } from '../../adminContext.js'
import { type ChainServices, executorReadiness } from '../../services.js'

const fees = z.object({ maxFeePerGas: wei, maxPriorityFeePerGas: wei })

const bundle = z.object({
  bundleId: z.string(),
  kind: z.enum(['operations', 'filler', 'refill', 'return']),
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
  const { id, operation_count: operations, attempts } = row
  return { ...camelCased(row), bundleId: id, operations, attempts: Number(attempts) }
}

/** The chains that are served, and for the operator what the bundler does on them. */
export const chainRoutes = [
  route('GET /chains', {
    summary: 'The served chains: EntryPoints, addresses, head and fees',
    isShared: true,
    who: 'either',
    role: 'viewer',
    answer: listOf(
      z.object({
        chainId: z.int(),
        name: z.string(),
        explorerUrl: z.string().nullable(),
        /** The coin in which gas is paid; usd = for one of it, where a price or its sources are configured. */
        coin: z.object({ symbol: z.string(), usd: z.string().nullable() }),
        entryPoints: z.array(z.object({ address, version: z.string() })),
        /** Paths below the service, to be completed with an API key. */
        endpoints: z.object({ classic: z.string(), standard: z.string() }),
        /** The last head that was read, and its age in milliseconds; null before the first. */
        head: z.int().nullable(),
        headAge: z.int().nullable(),
        /** Whether the head is recent, as in the readiness. */
        answers: z.boolean(),
        bundled: z.boolean(),
        /** Why no bundle is sent at present, such as a base fee above the ceiling; null = bundles go. */
        waits: z.string().nullable(),
        /** The rules that the chain announces; null where it announces none. */
        coming: z.object({ fork: z.string(), at: time }).nullable(),
      }),
    ),
    async run({ context, caller: { share } }) {
      const { chains: states } = await context.readiness({ chainId: undefined, role: 'api' })
      const served = [...context.chains.values()].filter(
        ({ chainId }) => share === undefined || chainId === share.chainId,
      )
      const usd = await Promise.all(served.map(({ coin }) => coin.usd()))
      return {
        items: served.map(({ chainId: id, name, explorerUrl, coin, entryPoints }, at) => {
          const {
            head = null,
            headAge = null,
            answers = false,
            bundled = false,
            waits = null,
            coming,
          } = states[id] ?? {}
          return {
            chainId: id,
            name,
            explorerUrl: explorerUrl ?? null,
            coin: { symbol: coin.symbol, usd: usd[at] ?? null },
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
            answers,
            bundled,
            waits,
            coming: coming ? { fork: coming.fork, at: new Date(coming.activation * 1_000) } : null,
          }
        }),
      }
    },
  }),
  route('GET /apps/{appId}/fees/{chainId}', {
    summary: 'The fees that an operation should bid now',
    role: 'viewer',
    answer: z.object({
      slow: fees,
      standard: fees,
      fast: fees,
      /** The head of which the fees are, and its age in milliseconds: they are old while the node is away. */
      head: z.int().nullable(),
      headAge: z.int().nullable(),
    }),
    async run({ context, app, params: { chainId: id } }) {
      const advice = await servedChain(context, id).fees(app.id)
      const { chains } = await context.readiness({ chainId: id, role: 'api' })
      const { head = null, headAge = null } = chains[id] ?? {}
      return { ...advice, head, headAge: headAge === null ? null : Math.round(headAge) }
    },
  }),
  route('GET /chains/{chainId}/pool', {
    summary: 'How many operations wait, for how long, and at which tips',
    who: 'operator',
    answer: waitingPool,
    run: ({ context, params: { chainId: id } }) => poolSummary(context.database, id),
  }),
  route('GET /chains/{chainId}/bundles', {
    summary: 'The transactions of the executors, newest first',
    who: 'operator',
    query: pageByNumber,
    answer: pageOf(bundle),
    async run({ context, params: { chainId: id }, query: { limit, before } }) {
      const page = { limit, before }
      const { items, next } = await listBundles(context.database, id, page)
      return { items: items.map(encodeBundle), next }
    },
  }),
  route('GET /chains/{chainId}/bundles/{bundleId}', {
    summary: 'One bundle with each signed transaction and its operations',
    who: 'operator',
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
      if (record === undefined) return undefined
      const { transactions, hashes } = record
      return {
        ...encodeBundle({ ...record.bundle, attempts: BigInt(transactions.length) }),
        transactions: transactions.map(camelCased),
        userOpHashes: hashes,
      }
    },
  }),
  route('GET /chains/{chainId}/executors', {
    summary:
      'Executors and treasury with balance and state; empty where this process never bundles',
    who: 'operator',
    answer: listOf(executorReadiness),
    async run({ context, params: { chainId: id } }) {
      servedChain(context, id)
      const { chains } = await context.readiness({ chainId: undefined, role: 'api' })
      return chains[id]?.executors ?? []
    },
  }),
  route('GET /chains/{chainId}/reputation', {
    summary: 'Operations seen and included of each entity (ERC-7562), by address',
    who: 'operator',
    query: pageQuery(reputationCursor),
    answer: pageOf(
      z.object({ entryPoint: address, address, opsSeen: z.string(), opsIncluded: z.string() }),
    ),
    async run({ context, params: { chainId: id }, query: { limit, before } }) {
      const { items, next } = await listReputations(context.database, id, { limit, before })
      return { items: items.map(camelCased), next }
    },
  }),
  route('GET /chains/{chainId}/nodes', {
    summary: 'The nodes of a chain as this process knows them, preferred first',
    who: 'operator',
    answer: listOf(
      z.object({
        host: z.string(),
        behind: z.boolean(),
        /** What it serves instead of this chain: it counts as away. */
        otherChain: z.string().nullable(),
        pausedUntil: time.nullable(),
        /** Methods that it is not asked at the moment. */
        failing: z.array(z.string()),
      }),
    ),
    async run({ context, params: { chainId: id } }) {
      const nodes = context.nodesOf(id)
      return nodes?.map(({ pausedUntil = null, otherChain = null, ...node }) => ({
        ...node,
        pausedUntil,
        otherChain,
      }))
    },
  }),
]

/** A chain that is served. Throws NotFoundError. */
export function servedChain({ chains }: AdminContext, chainId: number): ChainServices {
  const chain = chains.get(chainId)
  if (chain === undefined) throw new NotFoundError('Chain')
  return chain
}
