import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { NotFoundError } from '../../../errors/restErrors.js'
import { explain } from '../../../explain/explain.js'
import { timelineOf } from '../../../records/timelineOf.js'
import {
  findOperationRecord,
  type ListedOperation,
  listOperations,
  type OperationRecord,
} from '../../../store/records/operations.js'
import { storedOperation } from '../../../store/storedOperation.js'
import { address, explanation, id, pageOf, pageQuery, time, wei } from '../../adminSchemas.js'
import { encodeOperation } from '../../dialects/operationFields.js'
import { type Route, route } from '../route.js'

const hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be a hash')
const code = z.string().regex(/^[A-Z0-9_-]{1,60}$/, 'must be a code')
const chainId = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)
const state = z.enum(['pooled', 'bundled', 'included', 'dropped', 'replaced'])

const listed = z.object({
  chainId: z.int(),
  userOpHash: hash,
  entryPoint: address,
  appId: id,
  /** The key that sent it; null where none did, or where an earlier version stored it. */
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

function encode(row: ListedOperation) {
  return {
    chainId: Number(row.chain_id),
    userOpHash: row.hash,
    entryPoint: row.entry_point,
    appId: row.app_id,
    keyId: row.key_id,
    sender: row.sender,
    nonce: String(row.nonce),
    paymaster: row.paymaster,
    state: row.state,
    code: row.reason_code,
    reason: row.reason,
    maxCost: row.prefund,
    actualCost: row.actual_gas_cost,
    success: row.success,
    transactionHash: row.transaction_hash,
    receivedAt: row.received_at,
    updatedAt: row.updated_at,
  }
}

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
  z.object({ at: time, kind: z.enum(['returned', 'suspected', 'reorged']), bundleId }),
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
    blockTime: time.nullable(),
    success: z.boolean(),
    actualGasUsed: z.string(),
    actualGasCost: wei,
    revert: z.string().nullable(),
  }),
])

/** The numbers of an entry as text: ids and heights may exceed what JSON numbers hold. */
function asText(entry: object): object {
  return Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : value,
    ]),
  )
}

/** Why it is not fine, where it is not; a reverted call is explained as an estimate's is. */
function explanationOf({ operation, inclusion }: OperationRecord) {
  if (inclusion?.success === false) return explain('-32521') ?? null
  return operation.reason_code === null ? null : (explain(operation.reason_code) ?? null)
}

const query = pageQuery.extend({
  appId: id.optional(),
  chainId: chainId.optional(),
  state: state.optional(),
  code: code.optional(),
  sender: address.optional(),
  paymaster: address.optional(),
  entryPoint: address.optional(),
  policyId: id.optional(),
  from: time.optional(),
  until: time.optional(),
})

function lower(text: string | undefined): Address | undefined {
  return text?.toLowerCase() as Address | undefined
}

/** Accepted operations and what became of them. */
export const operationRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/operations',
    summary: "Operations that the account's apps sent, newest first",
    who: 'either',
    role: 'viewer',
    query,
    answer: pageOf(listed),
    async run({ context, caller, query: { limit, before, from, until, ...same } }) {
      const filter = defined({
        ...same,
        accountId: caller.accountId,
        sender: lower(same.sender),
        paymaster: lower(same.paymaster),
        entryPoint: lower(same.entryPoint),
        from: from === undefined ? undefined : new Date(from),
        until: until === undefined ? undefined : new Date(until),
      })
      const { items, next } = await listOperations(context.database, filter, { limit, before })
      return { items: items.map(encode), next }
    },
  }),
  route({
    method: 'GET',
    path: '/operations/{chainId}/{userOpHash}',
    summary: 'One operation: what happened to it, and what to do where it went wrong',
    who: 'either',
    role: 'viewer',
    params: z.object({ chainId, userOpHash: hash }),
    answer: listed.extend({
      /** Its fields, not packed, whatever its EntryPoint. */
      operation: z.record(z.string(), z.unknown()),
      timeline: z.array(timelineEntry),
      explanation: explanation.nullable(),
    }),
    async run({ context, caller, params }) {
      const { chainId: chain, userOpHash } = params
      const wanted = userOpHash.toLowerCase() as Hex
      const record = await findOperationRecord(context.database, chain, wanted, caller.accountId)
      if (record === undefined) throw new NotFoundError('Operation')
      const { operation, inclusion } = record
      const ending = {
        success: inclusion?.success ?? null,
        actual_gas_cost: inclusion?.actual_gas_cost ?? null,
        transaction_hash: inclusion?.transaction_hash ?? null,
      }
      return {
        ...encode({ ...operation, ...ending }),
        operation: encodeOperation(storedOperation(operation.operation), '0.7'),
        timeline: timelineOf(record).map(asText),
        explanation: explanationOf(record),
      }
    },
  }),
]
