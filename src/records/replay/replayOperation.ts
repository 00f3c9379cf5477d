import type { Hex } from 'viem'
import { NotFoundError } from '../../base/errors/restErrors.js'
import type { Database } from '../../db/database.js'
import type { Operation } from '../../erc4337/operation.js'
import { type FrameRecord, type Miss, type State, toHex } from '../../evm/index.js'
import { type AssetMove, coinMove, tokenMoves } from '../../simulation/assetMoves.js'
import { replayChanged, type RunChanges } from '../../simulation/replayChanged.js'
import { type ReplayedRun, replayWitness } from '../../simulation/replayWitness.js'
import type { WitnessedRun } from '../../simulation/witness.js'
import { findWitness } from '../../mempool/witnesses.js'
import { findAppAbi } from '../appAbis.js'
import { dictionaryOf } from '../contractAbi.js'
import { findOperationRecord, type OperationRecord } from '../operationRecord.js'
import { type FrameNames, framesOfOperation, originOf, reasonOf, describeFrames } from './frames.js'
import type { ReplayedOperation, ReplayedTransfer } from './replayed.js'

type ReplayRequest = {
  readonly chainId: number
  readonly userOpHash: Hex
  /** undefined = any, for the operator */
  readonly accountId: string | undefined
  /** Steps of the run at most. */
  readonly maxSteps?: number | undefined
  /** What is to be otherwise than it was; absent = nothing. */
  readonly changes?: Omit<RunChanges, 'of'> | undefined
  /** What was not kept, from a chain that is served. */
  readonly sources?: ReplaySources | undefined
}

/** Each gives undefined where it cannot be had. */
export type ReplaySources = {
  mined(record: OperationRecord, transactionHash: Hex): Promise<WitnessedRun | undefined>
  alone(record: OperationRecord): Promise<WitnessedRun | undefined>
  /** Of the state before block `hash`, or of the newest. */
  readState(hash: Hex | undefined, parts: readonly Miss[]): Promise<State>
}

/**
 * Runs an operation again from what was kept of its run, or what `sources` give. Throws NotFoundError where it is not
 * known, or nothing was kept; ConflictError where what was kept was changed, or lacks what changes ask for.
 */
export async function replayOperation(
  db: Database,
  request: ReplayRequest,
): Promise<ReplayedOperation> {
  const { chainId, userOpHash, accountId, maxSteps, changes, sources } = request
  const record = await findOperationRecord(db, chainId, userOpHash, accountId)
  const found = await findRun(db, request, record)
  if (found === undefined)
    throw new NotFoundError(record ? 'State that this operation read' : 'Operation')
  const { run: kept, transactionHash } = found
  const of = transactionHash === null ? undefined : record?.operation
  const blockHash = record?.inclusion?.block_hash
  const run = changes
    ? await replayChanged(
        kept,
        { ...changes, of },
        { maxSteps, readLacking: sources && ((parts) => sources.readState(blockHash, parts)) },
      )
    : { ...replayWitness(kept.witness, kept.codes, maxSteps), hasRead: false }
  const place = of ? placeOf(run, of) : 0
  const op = run.ops[place]
  if (op === undefined) throw new NotFoundError('Operation in its transaction')
  const abi = record ? await findAppAbi(db, record.operation.app_id) : []
  const names = {
    entryPoint: run.entryPoint,
    op,
    functions: dictionaryOf(abi, 'function'),
    errors: dictionaryOf(abi, 'error'),
  }
  const isRefusal = kept.witness.extent === 'validation'
  return {
    moment: transactionHash === null ? (isRefusal ? 'refused' : 'alone') : 'mined',
    transactionHash,
    isChanged: changes !== undefined,
    hasRead: run.hasRead,
    ...describeRun(run, place, names),
  }
}

/** The run that says most: of the transaction, else what was kept of the operation, else of it alone. */
async function findRun(
  db: Database,
  { chainId, userOpHash, accountId, sources }: ReplayRequest,
  record: OperationRecord | undefined,
): Promise<{ readonly run: WitnessedRun; readonly transactionHash: Hex | null } | undefined> {
  const transactionHash = record && transactionOf(record)
  const mined =
    transactionHash &&
    ((await findWitness(db, chainId, transactionHash, 'transaction')) ??
      (await sources?.mined(record, transactionHash)))
  if (mined) return { run: mined, transactionHash }
  const kept = await findWitness(db, chainId, userOpHash, { accountId })
  // What was kept of it before says nothing about one that is pending or included.
  const isOld =
    record !== undefined &&
    (record.inclusion ? kept?.witness.extent === 'validation' : isPending(record))
  const run = kept && !isOld ? kept : ((record && (await sources?.alone(record))) ?? kept)
  return run && { run, transactionHash: null }
}

/** Whether an operation may still be included. */
export function isPending({ operation: { state } }: OperationRecord): boolean {
  return state === 'pooled' || state === 'bundled'
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
): Omit<ReplayedOperation, 'moment' | 'transactionHash' | 'isChanged' | 'hasRead'> {
  const { block } = witness.state
  const { sender, nonce } = names.op
  const outcome = outcomes.find((each) => each.sender === sender && each.nonce === nonce)
  const isBlamed = failure !== undefined && (failure.index ?? place) === place
  const isRun = witness.extent !== 'validation'
  const success = failure === undefined && (outcome?.success ?? !isRun)
  const root = result.record?.root
  const own = root && framesOfOperation(entryPoint, ops, root, place)
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
