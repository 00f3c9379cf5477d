import { z } from 'zod'
import { attributionSchemas } from '../../base/vocabulary.js'
import type { Contracts } from './contract.js'
import {
  address,
  appParams,
  chainId,
  explanation,
  hash,
  id,
  pageOf,
  pageQuery,
  time,
  wei,
} from './schemas.js'

const code = z.string().regex(/^[A-Z0-9_-]{1,60}$/, 'must be a code')

const state = z.enum(['pooled', 'bundled', 'included', 'dropped', 'replaced'])

const listed = z.object({
  chainId: z.int(),
  userOpHash: hash,
  entryPoint: address,
  appId: id,
  /** The key that sent it; null where none did. */
  keyId: id.nullable(),
  sender: address,
  nonce: z.string(),
  paymaster: address.nullable(),
  state,
  /** The code and the reason with which it was dropped or replaced. */
  code: z.string().nullable(),
  reason: z.string().nullable(),
  /** What it may cost at most, and what it cost. */
  maxCost: wei,
  actualCost: wei.nullable(),
  /** Whether its call succeeded; null while it is not included. */
  success: z.boolean().nullable(),
  transactionHash: hash.nullable(),
  receivedAt: time,
  updatedAt: time,
})

const bundleId = z.string().nullable()

const timelineEntry = z.discriminatedUnion('kind', [
  z.object({
    at: time,
    kind: z.enum(['sponsored', 'refused']),
    decisionId: id,
    code: z.string(),
    message: z.string(),
  }),
  z.object({ at: time, kind: z.literal('received'), keyId: id.nullable() }),
  z.object({ at: time, kind: z.enum(['readmitted', 'cancelAsked']) }),
  z.object({
    at: time,
    kind: z.literal('bundled'),
    bundleId,
    executor: address,
    nonce: z.string(),
    others: z.int(),
  }),
  z.object({
    at: time,
    kind: z.literal('broadcast'),
    bundleId,
    transactionHash: hash,
    maxFeePerGas: wei,
    noop: z.boolean(),
  }),
  z.object({
    at: time,
    kind: z.enum(['returned', 'suspected', 'reorged']),
    bundleId,
    code: z.string(),
    message: z.string(),
  }),
  z.object({
    at: time,
    kind: z.enum(['dropped', 'replaced']),
    code: z.string().nullable(),
    message: z.string().nullable(),
  }),
  z.object({
    at: time,
    kind: z.literal('included'),
    transactionHash: hash,
    block: z.string(),
    blockTime: time,
    success: z.boolean(),
    actualGasUsed: z.string(),
    actualGasCost: wei,
    revert: z.string().nullable(),
  }),
])

const operationQuery = pageQuery.extend({
  appId: id.optional(),
  chainId: chainId.optional(),
  state: state.optional(),
  /** What became of it: `failed` was included and its call reverted; a replaced one counts as dropped. */
  outcome: z.enum(['inFlight', 'included', 'failed', 'dropped']).optional(),
  code: code.optional(),
  sender: address.optional(),
  /** The beginning of its hash. */
  hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{4,64}$/, 'must be 0x and 4 to 64 hexadecimal digits')
    .optional(),
  paymaster: address.optional(),
  entryPoint: address.optional(),
  policyId: id.optional(),
  from: time.optional(),
  until: time.optional(),
})

const call = z.object({
  to: address,
  value: wei,
  data: z.string(),
  /** Whether it runs the target's code as the account itself. */
  delegate: z.boolean(),
  /** The account that makes it by its delegation (ERC-7710), after the call that redeems this; null = the operation's own. */
  delegator: address.nullable(),
  /** Of the common standards (ERC-20, ERC-721, ERC-1155, …); null where it is none of them. */
  function: z
    .object({
      signature: z.string(),
      args: z.array(z.object({ name: z.string(), value: z.string() })),
    })
    .nullable(),
})

/** Accepted operations and what became of them. */
export const operationContracts = {
  'GET /operations': {
    command: 'list',
    summary: "Operations that the account's apps sent, newest first",
    who: 'either',
    role: 'viewer',
    query: operationQuery,
    answer: pageOf(listed),
  },
  'GET /operations/{chainId}/{userOpHash}': {
    command: 'show',
    summary: 'One operation: what happened to it, and what to do where it went wrong',
    who: 'either',
    role: 'viewer',
    params: z.object({ chainId, userOpHash: hash }),
    answer: listed.extend({
      /** Its fields, not packed, whatever its EntryPoint. */
      operation: z.record(z.string(), z.unknown()),
      /** The calls that its account makes; null where its call data is of no account that is known. */
      calls: z.array(call).nullable(),
      /** The codes of its data suffix (ERC-8021), which its sender wrote; null = it has none. */
      attribution: z
        .object({ schema: z.enum(attributionSchemas), codes: z.array(z.string()) })
        .nullable(),
      timeline: z.array(timelineEntry),
      explanation: explanation.nullable(),
    }),
  },
} as const satisfies Contracts

export const cancelContracts = {
  'POST /operations/{chainId}/{userOpHash}/cancel': {
    summary: 'Take back an operation that is in no signed bundle yet',
    who: 'either',
    role: 'developer',
    params: z.object({ chainId, userOpHash: hash }),
    body: z.strictObject({}),
    answer: z.object({
      state: z.literal('dropped'),
      code: z.literal('CANCELLED'),
      meaning: z.string(),
    }),
  },
} as const satisfies Contracts

/** Operations as they are sent, or as a record has them: pasted from a log, a wallet or a refusal. */
export const simulateContracts = {
  'POST /apps/{appId}/simulate': {
    summary: 'Whether a signed operation would be taken now, and why not; keeps nothing',
    who: 'account',
    role: 'developer',
    params: appParams,
    body: z.strictObject({
      chainId: z.int().positive(),
      entryPoint: address,
      operation: z.record(z.string(), z.unknown()),
      /** Also run its call, and refuse it where that reverts. */
      execution: z.boolean().default(true),
    }),
    answer: z.object({
      accepted: z.boolean(),
      userOpHash: z.string().nullable(),
      /** The JSON-RPC error that sending it would give; null where it would be taken. */
      code: z.int().nullable(),
      rule: z.string().nullable(),
      message: z.string(),
      explanation: explanation.nullable(),
    }),
  },
} as const satisfies Contracts
