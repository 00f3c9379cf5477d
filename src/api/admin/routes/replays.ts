import type { Hex } from 'viem'
import { z } from 'zod'
import {
  ConflictError,
  ForbiddenError,
  InvalidFieldError,
} from '../../../base/errors/restErrors.js'
import { CannotSimulateError } from '../../../base/errors/simulationErrors.js'
import { defined } from '../../../base/defined.js'
import { storedOperation } from '../../../db/storedOperation.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import type { Operation, OperationPaymaster } from '../../../erc4337/operation.js'
import type { OperationRecord } from '../../../records/operationRecord.js'
import { type ReplayedOperation, replayedOperation } from '../../../records/replay/replayed.js'
import {
  isPending,
  replayOperation,
  type ReplaySources,
} from '../../../records/replay/replayOperation.js'
import type { Simulate } from '../../../tenants/route.js'
import { route } from '../../adminContext.js'
import type { ChainServices } from '../../services.js'

/** Steps of a run in the process that answers requests: some 0.2 s. A command may do more. */
const MOST_STEPS = 2_000_000

const gas = z.coerce.number<number>().int().min(0).max(1_000_000_000)
const fee = z
  .string()
  .regex(/^\d{1,30}$/, 'must be wei per gas as a decimal number')
  .transform(BigInt)

/** Bytes as they fit into the head of a request. */
function bytes(most: number) {
  return z
    .string()
    .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be bytes in hexadecimal')
    .max(2 + 2 * most, `must not have more than ${most} bytes`)
    .transform((text) => text.toLowerCase() as Hex)
}

/** What is to be otherwise than it was. */
const changed = z.strictObject({
  callGasLimit: gas.optional(),
  verificationGasLimit: gas.optional(),
  paymasterVerificationGasLimit: gas.optional(),
  paymasterPostOpGasLimit: gas.optional(),
  maxFeePerGas: fee.optional(),
  maxPriorityFeePerGas: fee.optional(),
  /** Unix seconds */
  blockTime: z.coerce
    .number<number>()
    .int()
    .min(0)
    .max(2 ** 40)
    .optional(),
  callData: bytes(4_096).optional(),
  /** As the EntryPoint has it, with the paymaster's limits from v0.7 on; 0x = none. */
  paymasterAndData: bytes(1_024).optional(),
})

type Changed = z.output<typeof changed>

/** The members of an operation that a changed one has; its paymaster first, whose limits may be changed too. */
function fieldsOf(entryPoint: EntryPoint, change: Changed): Partial<Operation> {
  const { blockTime: _, paymasterAndData, callData, maxFeePerGas, maxPriorityFeePerGas } = change
  const limit = (value: number | undefined) => (value === undefined ? undefined : BigInt(value))
  return {
    ...(paymasterAndData !== undefined && paymasterOf(entryPoint, paymasterAndData)),
    ...defined({
      callData,
      maxFeePerGas,
      maxPriorityFeePerGas,
      callGasLimit: limit(change.callGasLimit),
      verificationGasLimit: limit(change.verificationGasLimit),
      ...(entryPoint.hasPaymasterLimits && {
        paymasterVerificationGasLimit: limit(change.paymasterVerificationGasLimit),
        paymasterPostOpGasLimit: limit(change.paymasterPostOpGasLimit),
      }),
    }),
  }
}

function paymasterOf(entryPoint: EntryPoint, bytes: Hex): OperationPaymaster {
  const paymaster = entryPoint.readPaymasterAndData(bytes)
  if (paymaster !== undefined) return paymaster
  const { version } = entryPoint
  throw new InvalidFieldError(
    'paymasterAndData',
    `is shorter than in EntryPoint v${version}; 0x: none`,
  )
}

/** Frames without data, which may have the signature in it: anyone could send the operation elsewhere. */
function withoutData(run: ReplayedOperation): ReplayedOperation {
  const frames = run.frames.map((frame) => ({
    ...frame,
    function: frame.function && { ...frame.function, args: [] },
    input: frame.input.slice(0, 10),
    output: '0x',
  }))
  return { ...run, frames }
}

/** What a served chain gives of runs that were not kept; what cannot be simulated is not there. */
function sourcesOf({ witnesses, entryPoints }: ChainServices, simulate: Simulate): ReplaySources {
  const unlessUnable = <Result>(run: Promise<Result | undefined>) =>
    run.catch((error: unknown) => {
      if (error instanceof CannotSimulateError) return undefined
      throw error
    })
  return {
    mined: ({ operation: { app_id } }, hash) =>
      unlessUnable(simulate(app_id, () => witnesses.mined(hash))),
    async alone(record: OperationRecord) {
      const { operation: row, inclusion } = record
      const entryPoint = entryPoints.get(row.entry_point)
      if (entryPoint === undefined) return undefined
      const recorded = {
        entryPoint,
        operation: storedOperation(row.operation),
        userOpHash: row.hash,
        appId: row.app_id,
        blockHash: inclusion?.block_hash,
        isPending: isPending(record),
      }
      return unlessUnable(
        simulate(row.app_id, (requester) => witnesses.alone({ ...recorded, requester })),
      )
    },
    readState: (...asked) =>
      witnesses.readState(...asked).catch((error: unknown) => {
        if (!(error instanceof CannotSimulateError)) throw error
        throw new ConflictError(`The changed run needs state of the node: ${error.message}`)
      }),
  }
}

/** Operations that are run again, from what was kept of their runs. */
export const replayRoutes = [
  route('GET /operations/{chainId}/{userOpHash}/replay', {
    command: 'replay',
    summary:
      'Run an operation again without a node, as it was or with changes: its calls, and the one that failed',
    isShared: true,
    who: 'either',
    role: 'viewer',
    query: changed,
    answer: replayedOperation,
    async run({ context, caller, params, query, simulate }) {
      const { database, chains } = context
      // A command has the database alone.
      const chain = (chains as typeof chains | undefined)?.get(params.chainId)
      const { blockTime } = query
      const hasChanges = Object.values(query).some((value) => value !== undefined)
      if (hasChanges && caller.share) throw new ForbiddenError('more than a link to one operation')
      const run = () =>
        replayOperation(database, {
          chainId: params.chainId,
          userOpHash: params.userOpHash,
          accountId: caller.accountId,
          maxSteps: chain && MOST_STEPS,
          changes: hasChanges
            ? {
                fields: (entryPoint) => fieldsOf(entryPoint, query),
                blockTime: blockTime === undefined ? undefined : BigInt(blockTime),
              }
            : undefined,
          sources: chain && sourcesOf(chain, simulate),
        })
      // It is run once for each round of reading.
      const answer = await (chain && hasChanges
        ? simulate(caller.accountId ?? 'operator', run)
        : run())
      return caller.share && answer.moment !== 'mined' ? withoutData(answer) : answer
    },
  }),
]
