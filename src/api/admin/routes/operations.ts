import type { Hex } from 'viem'
import { z } from 'zod'
import { explain, explainError } from '../../../base/errors/explain.js'
import { ConflictError, NotFoundError } from '../../../base/errors/restErrors.js'
import { attributionSchemas } from '../../../base/vocabulary.js'
import { camelCased } from '../../../db/camelCased.js'
import { storedOperation } from '../../../db/storedOperation.js'
import { readAttribution } from '../../../erc4337/attribution.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import { describeRevert } from '../../../erc4337/revertReason.js'
import { type Version, versionFacts } from '../../../erc4337/versionFacts.js'
import { describeSilentCall } from '../../../gas/neededGas.js'
import { announceOperations } from '../../../mempool/pool/operations.js'
import { requestCancellation } from '../../../mempool/pool/successors.js'
import { findAppAbi } from '../../../records/appAbis.js'
import { dictionaryOf } from '../../../records/contractAbi.js'
import { describeCalls, describedCall } from '../../../records/describeCalls.js'
import {
  type ListedOperation,
  listedOperation,
  listOperations,
  operationCursor,
  operationFilter,
} from '../../../records/operations.js'
import {
  findOperationOwner,
  findOperationRecord,
  type OperationRecord,
} from '../../../records/operationRecord.js'
import { timelineEntry, timelineOf, troubleOf } from '../../../records/timelineOf.js'
import type { AdminCaller } from '../../../tenants/route.js'
import { address, explanation, pageOf, pageQuery } from '../../../tenants/schemas.js'
import { type AdminContext, route } from '../../adminContext.js'
import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeOperation } from '../../dialects/decode/operation.js'
import { encodeOperation } from '../../dialects/operationFields.js'
import { asPurserError } from '../../restError.js'
import { servedChain } from './chains.js'

function encodeListed(row: ListedOperation) {
  return {
    ...camelCased(row),
    userOpHash: row.hash,
    code: row.reason_code,
    maxCost: row.prefund,
    actualCost: row.actual_gas_cost,
  }
}

/** An operation of the caller. Throws NotFoundError. */
async function recordOf(
  { database }: AdminContext,
  { accountId }: AdminCaller,
  { chainId, userOpHash }: { readonly chainId: number; readonly userOpHash: Hex },
): Promise<OperationRecord> {
  const record = await findOperationRecord(database, chainId, userOpHash, accountId)
  if (record === undefined) throw new NotFoundError('Operation')
  return record
}

/** What readers of a link see of the key that sent an operation. */
const noKey = { keyId: null, keyName: null }

/** Accepted operations and what became of them. */
export const operationRoutes = [
  route('GET /operations', {
    command: 'list',
    summary: "Operations that the account's apps sent, newest first",
    who: 'either',
    role: 'viewer',
    query: pageQuery(operationCursor).extend(operationFilter.shape),
    answer: pageOf(listedOperation),
    async run({ context, caller, query: { limit, before, ...same } }) {
      const filter = { ...same, accountId: caller.accountId }
      const { items, next } = await listOperations(context.database, filter, { limit, before })
      return { items: items.map(encodeListed), next }
    },
  }),
  route('GET /operations/{chainId}/{userOpHash}', {
    command: 'show',
    summary: 'One operation: its history, and the fix if it failed',
    isShared: true,
    who: 'either',
    role: 'viewer',
    answer: listedOperation.extend({
      /** Its fields, not packed, whatever its EntryPoint. */
      operation: z.record(z.string(), z.unknown()),
      /** The calls that its account makes; null where its call data is of no account that is known. */
      calls: z.array(describedCall).nullable(),
      /** The codes of its data suffix (ERC-8021), which its sender wrote; null = it has none. */
      attribution: z
        .object({ schema: z.enum(attributionSchemas), codes: z.array(z.string()) })
        .nullable(),
      timeline: z.array(timelineEntry),
      explanation: explanation.nullable(),
    }),
    async run({ context, caller, params }) {
      const record = await recordOf(context, caller, params)
      const { operation, inclusion } = record
      const trouble = troubleOf(record)
      const ending = {
        success: inclusion?.success ?? null,
        actual_gas_cost: inclusion?.actual_gas_cost ?? null,
        transaction_hash: inclusion?.transaction_hash ?? null,
      }
      const whole = storedOperation(operation.operation)
      const abi = await findAppAbi(context.database, operation.app_id)
      return {
        ...encodeListed({ ...operation, ...ending }),
        ...(caller.share && { keyId: null }),
        operation: {
          ...encodeOperation(whole, '0.7'),
          // Anyone could send it with them elsewhere.
          ...(caller.share && !inclusion && { signature: undefined, eip7702Auth: undefined }),
        },
        calls: describeCalls(whole.callData, dictionaryOf(abi, 'function')) ?? null,
        attribution: readAttribution(whole.callData)?.attribution ?? null,
        timeline: timelineOf(record, dictionaryOf(abi, 'error')).map((entry) =>
          caller.share !== undefined && entry.kind === 'received' ? { ...entry, ...noKey } : entry,
        ),
        explanation: trouble === null ? null : (explain(trouble) ?? null),
      }
    },
  }),
  route('GET /operations/{chainId}/{userOpHash}/advice', {
    summary:
      'Why the call of an included operation failed that gave no reason, by running it again in its block',
    isShared: true,
    who: 'either',
    role: 'developer',
    answer: z.object({
      callGasLimit: z.string(),
      /** What would have been enough; null = more gas would not have helped. */
      neededCallGas: z.string().nullable(),
      message: z.string(),
    }),
    async run({ context, caller, params, simulate }) {
      const { operation: row, inclusion } = await recordOf(context, caller, params)
      if (inclusion?.success !== false || describeRevert(inclusion.reason) !== undefined)
        throw new NotFoundError('A call that failed without a reason')
      const served = servedChain(context, params.chainId)
      const entryPoint = served.entryPoints.get(row.entry_point)
      if (entryPoint === undefined) throw new NotFoundError('EntryPoint')
      const operation = storedOperation(row.operation)
      const included = { entryPoint, operation, blockHash: inclusion.block_hash }
      const needed = await simulate(row.app_id, (requester) =>
        served.neededGas({ ...included, requester }),
      )
      return {
        callGasLimit: operation.callGasLimit,
        neededCallGas: needed ?? null,
        message: describeSilentCall(operation, needed),
      }
    },
  }),
]

/** What an answer means, in the words that every client shows. */
const MEANING =
  'Purser has dropped the operation and those that wait behind it. It will not send them. The signature stays valid: anyone else who has the operation can still submit it until the account uses the nonce.'

function refusalOf(state: string | undefined): string {
  return state === 'bundled'
    ? 'The operation is in a signed bundle, which may be on its way to a block. Only the operator can take a bundle back, by `purser operation cancel`; see its status.'
    : `The operation is ${state} already; nothing was changed.`
}

export const cancelRoutes = [
  route('POST /operations/{chainId}/{userOpHash}/cancel', {
    summary: 'Cancel an operation that is not in a signed bundle yet',
    who: 'either',
    role: 'developer',
    body: z.strictObject({}),
    answer: z.object({
      state: z.literal('dropped'),
      code: z.literal('CANCELLED'),
      meaning: z.string(),
    }),
    async run({ context: { database }, change, caller, params }) {
      const { chainId: chain, userOpHash: wanted } = params
      await change(async ({ trx, record }) => {
        const owner = await findOperationOwner(trx, chain, wanted)
        const isStranger = caller.accountId !== undefined && owner?.accountId !== caller.accountId
        if (owner === undefined || isStranger) throw new NotFoundError('Operation')
        const before = await requestCancellation(trx, chain, wanted, 'owner')
        if (before !== 'pooled') throw new ConflictError(refusalOf(before))
        await record({
          action: 'operation.cancel',
          objectId: wanted,
          ...owner,
          before: { chainId: chain, state: before },
        })
      })
      await announceOperations(database, chain)
      return { state: 'dropped', code: 'CANCELLED', meaning: MEANING } as const
    },
  }),
]

/** The version whose fields the operation has: those of a record are not packed, whatever its EntryPoint. */
function shapeOf(
  operation: Readonly<Record<string, unknown>>,
  { version }: Pick<EntryPoint, 'version'>,
): Version {
  const isPacked = 'initCode' in operation || 'paymasterAndData' in operation
  return versionFacts[version].packsEntities && !isPacked ? '0.7' : version
}

/** Operations as they are sent, or as a record has them: pasted from a log, a wallet or a refusal. */
export const simulateRoutes = [
  route('POST /apps/{appId}/simulate', {
    summary: 'Whether a signed operation would be accepted now, and why not; stores nothing',
    role: 'developer',
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
    async run({ context, app, body, simulate, logger }) {
      const chain = servedChain(context, body.chainId)
      const entryPoint = decodeEntryPoint(body.entryPoint, 'entryPoint', chain)
      const operation = decodeOperation(
        body.operation,
        'operation',
        shapeOf(body.operation, entryPoint),
      )
      const options = { appId: app.id, simulateExecution: body.execution }
      try {
        const userOpHash = await simulate(app.id, (requester) =>
          chain.check(entryPoint, operation, { ...options, requester }),
        )
        const message = 'It would be accepted, unless the pool is full.'
        const none = { code: null, rule: null, explanation: null }
        return { accepted: true, userOpHash, message, ...none }
      } catch (thrown) {
        const { code, rule = null, message, status } = asPurserError(thrown, logger)
        // Our own trouble says nothing about the operation.
        if (status >= 500 || status === 429) throw thrown
        const known = explainError({ code, rule }) ?? null
        return { accepted: false, userOpHash: null, code, rule, message, explanation: known }
      }
    },
  }),
]
