import { z } from 'zod'
import type { Contracts } from './contract.js'
import { address, chainId, hash, listOf, pageOf, pageQuery, time, wei } from './schemas.js'

const chainParams = z.object({ chainId })

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

/** The chains that are served, and for the operator what the bundler does on them. */
export const chainContracts = {
  'GET /chains': {
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
        /** The rules that the chain announces; null where it announces none. */
        coming: z.object({ fork: z.string(), at: time }).nullable(),
      }),
    ),
  },
  'GET /apps/{appId}/fees/{chainId}': {
    summary: 'The fees that an operation of the app should offer now',
    who: 'account',
    role: 'viewer',
    params: z.object({ appId: z.uuid(), chainId }),
    answer: z.object({ slow: fees, standard: fees, fast: fees }),
  },
  'GET /chains/{chainId}/pool': {
    summary: 'How many operations wait, since when, and for which tips',
    who: 'operator',
    params: chainParams,
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
  },
  'GET /chains/{chainId}/bundles': {
    summary: 'The transactions of the executors, newest first',
    who: 'operator',
    params: chainParams,
    query: pageQuery,
    answer: pageOf(bundle),
  },
  'GET /chains/{chainId}/bundles/{bundleId}': {
    summary: 'One bundle with each signed transaction and its operations',
    who: 'operator',
    params: chainParams.extend({ bundleId: z.string().regex(/^\d{1,18}$/) }),
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
  },
  'GET /chains/{chainId}/executors': {
    summary:
      'Executors and treasury with balance and state; empty where this process never bundles',
    who: 'operator',
    params: chainParams,
    answer: listOf(
      z.object({
        role: z.enum(['executor', 'treasury']),
        address,
        state: z.enum(['ready', 'busy', 'resting']),
        balance: wei,
        inFlight: z.int(),
      }),
    ),
  },
  'GET /chains/{chainId}/reputation': {
    summary: 'Operations seen and included of each entity (ERC-7562), by address',
    who: 'operator',
    params: chainParams,
    query: pageQuery,
    answer: pageOf(
      z.object({ entryPoint: address, address, opsSeen: z.string(), opsIncluded: z.string() }),
    ),
  },
  'GET /chains/{chainId}/nodes': {
    summary: 'The nodes of a chain as this process knows them, preferred first',
    who: 'operator',
    params: chainParams,
    answer: listOf(
      z.object({
        host: z.string(),
        behind: z.boolean(),
        /** What it serves instead of this chain: it counts as away. */
        otherChain: z.string().nullable(),
        restsUntil: time.nullable(),
        /** Methods that it is not asked at the moment. */
        failing: z.array(z.string()),
      }),
    ),
  },
} as const satisfies Contracts
