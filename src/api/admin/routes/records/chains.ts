import { contracts } from '../../../../admin/contracts.js'
import { NotFoundError } from '../../../../errors/restErrors.js'
import {
  findBundle,
  type ListedBundle,
  listBundles,
  listReputations,
  poolSummary,
} from '../../../../store/records/chainRecords.js'
import { cursorNumber } from '../../cursor.js'
import { type Route, serve } from '../../route.js'
import { servedChain } from './servedChain.js'

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

export const chainRoutes: readonly Route[] = serve(contracts.chain)({
  async 'GET /chains'({ context }) {
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
  async 'GET /chains/{chainId}/executors'({ context, params: { chainId: id } }) {
    servedChain(context, id)
    const { chains } = await context.readiness({ chainId: undefined, role: 'api' })
    return { items: chains[id]?.executors ?? [] }
  },
  async 'GET /chains/{chainId}/reputation'({
    context,
    params: { chainId: id },
    query: { limit, before },
  }) {
    const { items, next } = await listReputations(context.database, id, { limit, before })
    const encoded = items.map((row) => ({
      entryPoint: row.entry_point,
      address: row.address,
      opsSeen: row.ops_seen,
      opsIncluded: row.ops_included,
    }))
    return { items: encoded, next }
  },
  async 'GET /chains/{chainId}/nodes'({ context, params: { chainId: id } }) {
    const nodes = context.nodesOf(id)
    if (nodes === undefined) throw new NotFoundError('Chain')
    return { items: nodes.map(({ restsUntil = null, ...node }) => ({ ...node, restsUntil })) }
  },
})
