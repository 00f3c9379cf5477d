import { z } from 'zod'
import { NotFoundError } from '../../../base/errors/restErrors.js'
import { storedOperation } from '../../../db/storedOperation.js'
import { chargeKinds } from '../../../gas/waterfall.js'
import {
  bundleMoney,
  findBundleMoney,
  findOperationRecord,
} from '../../../records/operationRecord.js'
import { signed, wei } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'
import { servedChain } from './chains.js'

const waterfall = z.object({
  prefund: wei,
  charge: wei,
  refund: wei,
  /** wei per gas */
  gasPrice: wei,
  /** Their wei are the charge in sum. */
  parts: z.array(z.object({ kind: z.enum(chargeKinds), gas: signed, wei: signed })),
  /** The state on which it was run again to find the parts: before its block, or the newest; null = it could not be. */
  state: z.enum(['before', 'newest']).nullable(),
  hints: z.array(
    z.object({
      kind: z.enum(['unusedGas', 'excess', 'paymaster']),
      wei,
      percent: z.number(),
      message: z.string(),
    }),
  ),
  /** The bundle that included it; null where it is of another bundler. */
  bundle: bundleMoney.nullable(),
})

export const waterfallRoutes = [
  route('GET /operations/{chainId}/{userOpHash}/waterfall', {
    summary: 'Where the money of an included operation went, by running it again in its block',
    isShared: true,
    who: 'either',
    role: 'developer',
    answer: waterfall,
    async run({ context, caller, params, simulate }) {
      const { chainId: chain, userOpHash } = params
      const record = await findOperationRecord(
        context.database,
        chain,
        userOpHash,
        caller.accountId,
      )
      const { operation: row, inclusion } = record ?? {}
      if (record === undefined || row === undefined || inclusion === undefined)
        throw new NotFoundError('An included operation')
      const served = servedChain(context, chain)
      const entryPoint = served.entryPoints.get(row.entry_point)
      if (entryPoint === undefined) throw new NotFoundError('EntryPoint')
      const charged = {
        operation: storedOperation(row.operation),
        blockHash: inclusion.block_hash,
        success: inclusion.success,
        actualGasUsed: inclusion.actual_gas_used,
        actualGasCost: inclusion.actual_gas_cost,
        sharedBy: row.shared_by,
      }
      const { state = null, ...found } = await simulate(row.app_id, (requester) =>
        served.waterfall(entryPoint, charged, requester),
      )
      const bundle = await findBundleMoney(context.database, record)
      return { ...found, state, bundle: bundle ?? null }
    },
  }),
]
