import { NotFoundError } from '../../../base/errors/restErrors.js'
import {
  findBundle,
  type ListedBundle,
  listBundles,
  listReputations,
  poolSummary,
} from '../../../records/chainRecords.js'
import type { AdminContext } from '../../adminContext.js'
import { contracts } from '../../contracts/contracts.js'
import type { ChainServices } from '../../services.js'
import { camelCased } from '../camelCased.js'
import { cursorNumber, type Route, serve } from '../route.js'

function encodeBundle(row: ListedBundle) {
  const { id, operation_count: operations, attempts } = row
  return { ...camelCased(row), bundleId: id, operations, attempts: Number(attempts) }
}

export const chainRoutes: readonly Route[] = serve(contracts.chain)({
  async 'GET /chains'({ context }) {
    const { chains: states } = await context.readiness({ chainId: undefined, role: 'api' })
    return {
      items: [...context.chains.values()].map(({ chainId: id, entryPoints }) => {
        const { head = null, headAge = null, bundled = false, coming } = states[id] ?? {}
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
          coming: coming ? { fork: coming.fork, at: new Date(coming.activation * 1_000) } : null,
        }
      }),
    }
  },
  'GET /apps/{appId}/fees/{chainId}': ({ context, app, params: { chainId: id } }) =>
    servedChain(context, id).fees(app.id),
  'GET /chains/{chainId}/pool': ({ context, params: { chainId: id } }) =>
    poolSummary(context.database, id),
  async 'GET /chains/{chainId}/bundles'({
    context,
    params: { chainId: id },
    query: { limit, before },
  }) {
    const page = { limit, before: cursorNumber(before) }
    const { items, next } = await listBundles(context.database, id, page)
    return { items: items.map(encodeBundle), next }
  },
  async 'GET /chains/{chainId}/bundles/{bundleId}'({ context, params: { chainId: id, bundleId } }) {
    const record = await findBundle(context.database, id, BigInt(bundleId))
    if (record === undefined) return undefined
    const { transactions, hashes } = record
    return {
      ...encodeBundle({ ...record.bundle, attempts: BigInt(transactions.length) }),
      transactions: transactions.map(camelCased),
      userOpHashes: hashes,
    }
  },
  async 'GET /chains/{chainId}/executors'({ context, params: { chainId: id } }) {
    servedChain(context, id)
    const { chains } = await context.readiness({ chainId: undefined, role: 'api' })
    return chains[id]?.executors ?? []
  },
  async 'GET /chains/{chainId}/reputation'({
    context,
    params: { chainId: id },
    query: { limit, before },
  }) {
    const { items, next } = await listReputations(context.database, id, { limit, before })
    return { items: items.map(camelCased), next }
  },
  async 'GET /chains/{chainId}/nodes'({ context, params: { chainId: id } }) {
    const nodes = context.nodesOf(id)
    return nodes?.map(({ restsUntil = null, otherChain = null, ...node }) => ({
      ...node,
      restsUntil,
      otherChain,
    }))
  },
})

/** A chain that is served. Throws NotFoundError. */
export function servedChain({ chains }: AdminContext, chainId: number): ChainServices {
  const chain = chains.get(chainId)
  if (chain === undefined) throw new NotFoundError('Chain')
  return chain
}
