import type { Address } from 'viem'
import { sum } from '../base/bigints.js'
import { ConflictError } from '../base/errors/restErrors.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { type EvmMessage, fromHex, type Miss, type State, toHex } from '../evm/index.js'
import { handleOpsCall, MAX_STEPS } from './inProcess/simulateOperation.js'
import {
  nameOf,
  type OpenedWitness,
  openRun,
  type ReplayedRun,
  runOpened,
} from './replayWitness.js'
import type { WitnessedRun } from './witness.js'

/** What is to be otherwise in the second run of one operation. */
export type RunChanges = {
  /** The operation, by sender and nonce; undefined = the only one. */
  readonly of: Pick<Operation, 'sender' | 'nonce'> | undefined
  readonly fields: (entryPoint: EntryPoint) => Partial<Operation>
  /** Unix seconds of its block; undefined = as it was. */
  readonly blockTime: bigint | undefined
}

/** State that the witness lacks, read from a node. */
type ReadLacking = (parts: readonly Miss[]) => Promise<State>

type ChangedRunOptions = {
  readonly maxSteps?: number | undefined
  /** Absent where no node is there. */
  readonly readLacking?: ReadLacking | undefined
}

/** Rounds of reading, and parts that are read at most. */
const MAX_ROUNDS = 12
const MAX_READS = 4_000

/**
 * Repeats a run with changes. Signature and time range of a changed operation do not count: nobody has signed it. State
 * that the witness lacks is read by `readLacking`; throws ConflictError without it.
 */
export async function replayChanged(
  run: WitnessedRun,
  changes: RunChanges,
  { maxSteps = MAX_STEPS, readLacking }: ChangedRunOptions,
): Promise<ReplayedRun & { readonly hasRead: boolean }> {
  let opened = change(openRun(run), changes, readLacking !== undefined)
  let read = 0
  for (let round = 0; ; round++) {
    const end = runOpened(opened, maxSteps, 'guess')
    if ('result' in end) return { ...end, hasRead: round > 0 }
    read += end.length
    if (readLacking === undefined || round === MAX_ROUNDS || read > MAX_READS)
      throw new ConflictError(
        `The changed run reads what was not kept of the first one: ${end.slice(0, 3).map(nameOf).join(', ')}${end.length > 3 ? ` and ${end.length - 3} more` : ''}. The service of its chain reads that from its node; a command has the database alone.`,
      )
    opened = { ...opened, state: withMore(opened.state, await readLacking(end)) }
  }
}

function withMore(state: State, more: State): State {
  return {
    account(address) {
      const account = state.account(address)
      if (account !== undefined && account.nonce !== undefined) return account
      const read = more.account(address)
      return account ? { ...account, nonce: read?.nonce } : read
    },
    slot: (address, slot) => state.slot(address, slot) ?? more.slot(address, slot),
  }
}

/** @param isWhole whether a run of a validation goes on to the call: what that reads was not kept */
function change(
  opened: OpenedWitness,
  { of, fields, blockTime }: RunChanges,
  isWhole: boolean,
): OpenedWitness {
  const { entryPoint, ops, message } = opened
  const place = of
    ? ops.findIndex(({ sender, nonce }) => sender === of.sender && nonce === of.nonce)
    : 0
  const op = ops[place]
  if (op === undefined) throw new ConflictError('The run does not have this operation.')
  const changed = { ...op, ...fields(entryPoint) }
  const isChanged = entryPoint.encodeOperation(changed) !== entryPoint.encodeOperation(op)
  const timestamp = blockTime ?? opened.block.timestamp
  const block = { ...opened.block, timestamp }
  const { extent } = opened.witness
  const witness = {
    extent: extent === 'validation' && isWhole ? 'execution' : extent,
    state: { block: { ...opened.witness.state.block, timestamp } },
  }
  const together = ops.with(place, changed)
  const called =
    extent === 'bundle'
      ? changedBundle(entryPoint, message, ops, together)
      : { ...message, ...handleOpsCall(entryPoint, changed, block), accessList: message.accessList }
  const unsigned = isChanged ? { unsigned: changed } : {}
  return { ...opened, ...unsigned, witness, block, ops: together, message: called }
}

/** The same bundle with other operations, and gas for what they take more. */
function changedBundle(
  entryPoint: EntryPoint,
  message: EvmMessage,
  before: readonly Operation[],
  ops: readonly Operation[],
): EvmMessage {
  // handleOps(ops, beneficiary): the second word.
  const beneficiary: Address = `0x${toHex(message.data.subarray(48, 68)).slice(2)}`
  const data = fromHex(entryPoint.encodeHandleOps(ops, beneficiary))
  const gasOf = (each: readonly Operation[]) => Number(sum(each.map(entryPoint.bundleGas)))
  const longer = Math.max(data.length - message.data.length, 0)
  const more = Math.max(gasOf(ops) - gasOf(before), 0) + longer * MOST_BYTE_GAS
  return { ...message, data, gas: message.gas + more }
}

/** Gas of a byte of calldata at most. */
const MOST_BYTE_GAS = 100
