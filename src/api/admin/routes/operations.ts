import type { Hex } from 'viem'
import { defined } from '../../../base/defined.js'
import { explain, explainError } from '../../../base/errors/explain.js'
import { ConflictError, NotFoundError } from '../../../base/errors/restErrors.js'
import { storedOperation } from '../../../db/storedOperation.js'
import { readAttribution } from '../../../erc4337/attribution.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import { type Version, versionFacts } from '../../../erc4337/versionFacts.js'
import { announceOperations } from '../../../mempool/pool/operations.js'
import { requestCancellation } from '../../../mempool/pool/successors.js'
import { describeCalls } from '../../../records/describeCalls.js'
import {
  findOperationOwner,
  findOperationRecord,
  type ListedOperation,
  listOperations,
} from '../../../records/operations.js'
import { timelineOf, troubleOf } from '../../../records/timelineOf.js'
import { contracts } from '../../contracts/contracts.js'
import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeOperation } from '../../dialects/decode/operation.js'
import { encodeOperation } from '../../dialects/operationFields.js'
import { asPurserError } from '../../restError.js'
import { camelCased } from '../camelCased.js'
import { type Route, serve } from '../route.js'
import { servedChain } from './chains.js'
import { dateOf, lower } from './overview.js'

function encodeListed(row: ListedOperation) {
  return {
    ...camelCased(row),
    userOpHash: row.hash,
    code: row.reason_code,
    maxCost: row.prefund,
    actualCost: row.actual_gas_cost,
  }
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
      from: dateOf(from),
      until: dateOf(until),
    })
    const { items, next } = await listOperations(context.database, filter, { limit, before })
    return { items: items.map(encodeListed), next }
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
      ...encodeListed({ ...operation, ...ending }),
      operation: encodeOperation(whole, '0.7'),
      calls: describeCalls(whole.callData) ?? null,
      attribution: readAttribution(whole.callData)?.attribution ?? null,
      timeline: timelineOf(record),
      explanation: trouble === null ? null : (explain(trouble) ?? null),
    }
  },
})

/** What an answer means, in the words that every client shows. */
const MEANING =
  'Purser has dropped the operation and those that wait behind it. It will not send them. The signature stays valid: anyone else who has the operation can still submit it until the account uses the nonce.'

function refusalOf(state: string | undefined): string {
  return state === 'bundled'
    ? 'The operation is in a signed bundle, which may be on its way to a block. Only the operator can take a bundle back, by `purser operation cancel`; see its status.'
    : `The operation is ${state} already; nothing was changed.`
}

export const cancelRoutes: readonly Route[] = serve(contracts.cancel)({
  async 'POST /operations/{chainId}/{userOpHash}/cancel'({
    context: { database },
    change,
    caller,
    params,
  }) {
    const wanted = lower<Hex>(params.userOpHash) ?? '0x'
    const { chainId: chain } = params
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
    return { state: 'dropped', code: 'CANCELLED', meaning: MEANING }
  },
})

/** The version whose fields the operation has: those of a record are not packed, whatever its EntryPoint. */
function shapeOf(
  operation: Readonly<Record<string, unknown>>,
  { version }: Pick<EntryPoint, 'version'>,
): Version {
  const isPacked = 'initCode' in operation || 'paymasterAndData' in operation
  return versionFacts[version].packsEntities && !isPacked ? '0.7' : version
}

export const simulateRoutes: readonly Route[] = serve(contracts.simulate)({
  async 'POST /apps/{appId}/simulate'({ context, app, body, simulate, logger }) {
    const chain = servedChain(context, body.chainId)
    const entryPoint = decodeEntryPoint(body.entryPoint, 'entryPoint', chain)
    const operation = decodeOperation(
      body.operation,
      'operation',
      shapeOf(body.operation, entryPoint),
    )
    const options = { appId: app.id, simulateExecution: body.execution }
    try {
      const userOpHash = await simulate(app.id, () => chain.check(entryPoint, operation, options))
      const message = 'It would be taken, unless the limits of the pool are reached.'
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
})
