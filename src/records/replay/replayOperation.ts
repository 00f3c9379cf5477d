import type { Hex } from 'viem'
import { NotFoundError } from '../../base/errors/restErrors.js'
import type { Database } from '../../db/database.js'
import type { Operation } from '../../erc4337/operation.js'
import { type FrameRecord, toHex } from '../../evm/index.js'
import { type AssetMove, coinMove, tokenMoves } from '../../simulation/assetMoves.js'
import { type ReplayedRun, replayWitness } from '../../simulation/replayWitness.js'
import type { WitnessedRun } from '../../simulation/witness.js'
import { findWitness } from '../../mempool/witnesses.js'
import { findAppAbi } from '../appAbis.js'
import { dictionaryOf } from '../contractAbi.js'
import { findOperationRecord, type OperationRecord } from '../operations.js'
import { type FrameNames, framesOfOperation, originOf, reasonOf, describeFrames } from './frames.js'
import type { ReplayedOperation, ReplayedTransfer } from './replayed.js'

type ReplayRequest = {
  readonly chainId: number
  readonly userOpHash: Hex
  /** undefined = any, for the operator */
  readonly accountId: string | undefined
  /** Steps of the run at most. */
  readonly maxSteps?: number | undefined
  /** Reads the state of a mined operation now, where it was not kept. */
  readonly takeNow?: (record: OperationRecord) => Promise<WitnessedRun | undefined>
}

/**
 * Runs an operation again from the database alone. Throws NotFoundError where it is not known, or nothing was kept of its
 * run; ConflictError where what was kept was changed.
 */
export async function replayOperation(
  db: Database,
  { chainId, userOpHash, accountId, maxSteps, takeNow }: ReplayRequest,
): Promise<ReplayedOperation> {
  const record = await findOperationRecord(db, chainId, userOpHash, accountId)
  const transactionHash = record && transactionOf(record)
  const mined =
    transactionHash &&
    ((await findWitness(db, chainId, transactionHash, 'transaction')) ??
      (await takeNow?.(record as OperationRecord)))
  const found = mined ?? (await findWitness(db, chainId, userOpHash, { accountId }))
  if (found === undefined)
    throw new NotFoundError(record ? 'State that this operation read' : 'Operation')
  const run = replayWitness(found.witness, found.codes, maxSteps)
  const place = mined && record ? placeOf(run, record.operation) : 0
  const op = run.ops[place]
  if (op === undefined) throw new NotFoundError('Operation in its transaction')
  const abi = record ? await findAppAbi(db, record.operation.app_id) : []
  const names = {
    entryPoint: run.entryPoint,
    op,
    functions: dictionaryOf(abi, 'function'),
    errors: dictionaryOf(abi, 'error'),
  }
  return {
    moment: mined ? 'mined' : 'refused',
    transactionHash: mined ? (transactionHash ?? null) : null,
    ...describeRun(run, place, names),
  }
}

/** The transaction that ended an operation: that which includes it, or the one of its bundle that reverted. */
function transactionOf({ inclusion, operation, bundles }: OperationRecord): Hex | undefined {
  if (inclusion !== undefined) return inclusion.transaction_hash
  const bundle = bundles.find(({ id }) => id === operation.bundle_id)
  return bundle?.state === 'reverted' ? (bundle.transaction_hash ?? undefined) : undefined
}

function placeOf({ ops }: ReplayedRun, { sender, nonce }: Pick<Operation, 'sender' | 'nonce'>) {
  return ops.findIndex((op) => op.sender === sender && op.nonce === nonce)
}

/** The facts of one operation of a run. */
function describeRun(
  { entryPoint, ops, outcomes, result, failure, witness }: ReplayedRun,
  place: number,
  names: FrameNames,
): Omit<ReplayedOperation, 'moment' | 'transactionHash'> {
  const { block } = witness.state
  const { sender, nonce } = names.op
  const outcome = outcomes.find((each) => each.sender === sender && each.nonce === nonce)
  const isBlamed = failure !== undefined && (failure.index ?? place) === place
  const success = outcome?.success ?? false
  const root = result.record?.root
  const own = root && framesOfOperation(entryPoint, ops, root, place)
  const isRun = witness.extent === 'bundle'
  const execution = isRun ? own?.execution : undefined
  const top: readonly FrameRecord[] = own
    ? [...own.validation, ...(execution ? [execution] : [])]
    : []
  const fault =
    root && own && (isBlamed || (outcome && !success))
      ? faultOf({ ...own, execution }, root, names, failure?.code)
      : undefined
  // The EntryPoint's frame with the calls of this operation alone. That of a validation always reverts.
  const isReverted = isRun || failure !== undefined
  const shown = root && { ...root, calls: [...top], error: isReverted ? root.error : undefined }
  const revertData = outcome?.reason ?? failure?.revertData ?? '0x'
  return {
    block: String(block.number),
    blockTime: String(block.timestamp),
    success,
    actualGasUsed: outcome ? String(outcome.actualGasUsed) : null,
    actualGasCost: outcome ? String(outcome.actualGasCost) : null,
    code: failure?.code ?? null,
    reason:
      failure === undefined
        ? outcome && !success
          ? faultReason(fault, revertData, names)
          : null
        : isBlamed
          ? failure.message
          : `another operation of its bundle failed: ${failure.message}`,
    revertData,
    ...(shown
      ? describeFrames(shown, fault === root ? shown : fault, names)
      : { frames: [], isCut: true }),
    transfers: top.flatMap(transfersIn).slice(0, MOST_TRANSFERS),
  }
}

const MOST_TRANSFERS = 200

function faultReason(
  fault: FrameRecord | undefined,
  revertData: Hex,
  { errors }: FrameNames,
): string | null {
  return reasonOf(revertData, errors) ?? (fault?.error === undefined ? null : `${fault.error}`)
}

/** The frame at which the operation failed. */
function faultOf(
  { validation, execution }: ReturnType<typeof framesOfOperation>,
  root: FrameRecord,
  { entryPoint, op }: FrameNames,
  code: string | undefined,
): FrameRecord {
  if (execution !== undefined) {
    const failed =
      execution.error === undefined
        ? execution.calls.find(({ error }) => error !== undefined)
        : execution
    return originOf(failed ?? execution)
  }
  const hasFailed = ({ error }: FrameRecord) => error !== undefined
  // The creator of senders hides that a factory failed.
  const creation = code === 'AA13' ? validation[0]?.calls.findLast(hasFailed) : undefined
  const failed = validation.findLast(hasFailed) ?? creation
  if (failed !== undefined) return originOf(failed)
  const refuser = code === 'AA24' ? op.sender : code === 'AA34' ? op.paymaster : undefined
  const { validateUserOp, validatePaymasterUserOp } = entryPoint.callLayout
  const asked = code === 'AA24' ? validateUserOp : validatePaymasterUserOp
  return (
    validation.find(({ to, input }) => to === refuser && toHex(input).startsWith(asked)) ?? root
  )
}

/** What changed hands in frames that were not undone. */
function transfersIn(frame: FrameRecord): readonly ReplayedTransfer[] {
  const { error, detail, calls } = frame
  if (error !== undefined) return []
  return [
    ...coinMove(frame).map(transferOf),
    ...calls.flatMap(transfersIn),
    ...(detail?.logs ?? [])
      .flatMap(tokenMoves)
      .filter(({ kind }) => kind === 'transfer')
      .map(transferOf),
  ]
}

const kinds = { NATIVE: 'native', ERC20: 'erc20', ERC721: 'erc721', ERC1155: 'erc1155' } as const

function transferOf({ standard, token, from, to, tokenId, amount }: AssetMove): ReplayedTransfer {
  const kind = kinds[standard]
  const id = tokenId === undefined ? null : String(tokenId)
  return { kind, token: token ?? null, from, to, amount: String(amount), id }
}
