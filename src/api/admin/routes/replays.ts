import type { Hex } from 'viem'
import { CannotSimulateError } from '../../../base/errors/simulationErrors.js'
import type { OperationRecord } from '../../../records/operations.js'
import { replayedOperation } from '../../../records/replay/replayed.js'
import { replayOperation } from '../../../records/replay/replayOperation.js'
import { route } from '../../adminContext.js'

/** Steps of a run in the process that answers requests: some 0.2 s. A command may do more. */
const MOST_STEPS = 2_000_000

/** Operations that are run again, from what was kept of their runs. */
export const replayRoutes = [
  route('GET /operations/{chainId}/{userOpHash}/replay', {
    command: 'replay',
    summary: 'Run an operation again without a node: its calls, and the one that failed',
    isShared: true,
    who: 'either',
    role: 'viewer',
    answer: replayedOperation,
    async run({ context, caller, params, simulate }) {
      const { database, chains } = context
      const { chainId, userOpHash } = params
      // A command has the database alone.
      const chain = (chains as typeof chains | undefined)?.get(chainId)
      const takeNow = ({ operation, inclusion }: OperationRecord) =>
        chain && inclusion
          ? simulate(operation.app_id, () => chain.witness(inclusion.transaction_hash)).catch(
              (error: unknown) => {
                if (error instanceof CannotSimulateError) return undefined
                throw error
              },
            )
          : Promise.resolve(undefined)
      return replayOperation(database, {
        chainId,
        userOpHash: userOpHash.toLowerCase() as Hex,
        accountId: caller.accountId,
        maxSteps: chain && MOST_STEPS,
        takeNow,
      })
    },
  }),
]
