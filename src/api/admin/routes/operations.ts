import type { Address, Hex } from 'viem'
import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { NotFoundError } from '../../../errors/restErrors.js'
import { explain } from '../../../explain/explain.js'
import { describeCalls } from '../../../records/describeCalls.js'
import { timelineOf, troubleOf } from '../../../records/timelineOf.js'
import {
  findOperationRecord,
  type ListedOperation,
  listOperations,
} from '../../../store/records/operations.js'
import { storedOperation } from '../../../store/storedOperation.js'
import { encodeOperation } from '../../dialects/operationFields.js'
import { type Route, serve } from '../route.js'

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

function lower(text: string | undefined): Address | undefined {
  return text?.toLowerCase() as Address | undefined
}

export const operationRoutes: readonly Route[] = serve(contracts.operation)({
  async 'GET /operations'({ context, caller, query: { limit, before, from, until, ...same } }) {
    const filter = defined({
      ...same,
      accountId: caller.accountId,
      sender: lower(same.sender),
      hash: lower(same.hash),
      paymaster: lower(same.paymaster),
      entryPoint: lower(same.entryPoint),
      from: from === undefined ? undefined : new Date(from),
      until: until === undefined ? undefined : new Date(until),
    })
    const { items, next } = await listOperations(context.database, filter, { limit, before })
    return { items: items.map(encode), next }
  },
  async 'GET /operations/{chainId}/{userOpHash}'({ context, caller, params }) {
    const { chainId: chain, userOpHash } = params
    const wanted = userOpHash.toLowerCase() as Hex
    const record = await findOperationRecord(context.database, chain, wanted, caller.accountId)
    if (record === undefined) throw new NotFoundError('Operation')
    const { operation, inclusion } = record
    const trouble = troubleOf(record)
    const ending = {
      success: inclusion?.success ?? null,
      actual_gas_cost: inclusion?.actual_gas_cost ?? null,
      transaction_hash: inclusion?.transaction_hash ?? null,
    }
    const whole = storedOperation(operation.operation)
    return {
      ...encode({ ...operation, ...ending }),
      operation: encodeOperation(whole, '0.7'),
      calls: describeCalls(whole.callData) ?? null,
      timeline: timelineOf(record),
      explanation: trouble === null ? null : (explain(trouble) ?? null),
    }
  },
})
