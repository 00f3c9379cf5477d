import type { Address, Hex } from 'viem'
import { depositSlot } from '../../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import type { StakeInfo, Stakes } from '../../erc4337/rules/index.js'
import {
  codeHash,
  type ExecutionRecord,
  type Fork,
  type FrameRecord,
  type State,
} from '../../evm/index.js'
import type { ObservedRecord } from '../engine.js'
import { depositIn } from '../payerFunds.js'

/** A validation that our EVM or a node has recorded, and the state on which it ran. */
export type RecordedExecution = {
  readonly record: ExecutionRecord
  readonly state: State
  readonly fork: Fork
  readonly blockHash: Hex
}

/** The facts about a recorded validation that the rules need, all from the state on which it ran. */
export function observeRecord(
  entryPoint: EntryPoint,
  op: Operation,
  { record, state, fork, blockHash }: RecordedExecution,
): ObservedRecord {
  const { sender, paymaster } = op
  return {
    kind: 'record',
    stakes: stakesOn(state, entryPoint, op),
    blockHash,
    record,
    fork,
    senderExists: (state.account(sender)?.code.length ?? 0) > 0,
    codeHashes: codeHashes(state, record.root),
    deposit: paymaster && depositOf(state, entryPoint, paymaster),
  }
}

/** The stakes of those that an operation names. */
export function stakesOn(
  state: State,
  entryPoint: EntryPoint,
  { sender, factory, paymaster }: Operation,
): Stakes {
  return {
    account: stakeOf(state, entryPoint, sender),
    factory: factory && stakeOf(state, entryPoint, factory),
    paymaster: paymaster && stakeOf(state, entryPoint, paymaster),
  }
}

function stakeOf(state: State, entryPoint: EntryPoint, account: Address): StakeInfo {
  const words = entryPoint
    .stakeSlots(account)
    .map((slot) => state.slot(entryPoint.address, slot) ?? 0n)
  return entryPoint.readStake(words)
}

/** wei. The slot is among the hints of the operation, so it is known. */
function depositOf(state: State, { address }: EntryPoint, account: Address): bigint {
  return depositIn(state.slot(address, depositSlot(account)) ?? 0n)
}

/** Code hashes, as before the run, of all addresses that it called or inspected and their delegates. */
function codeHashes(state: State, root: FrameRecord): Map<Address, Hex> {
  const hashes = new Map<Address, Hex>()
  const note = (address: Address | undefined) => {
    if (address === undefined || hashes.has(address)) return
    const account = state.account(address)
    if (account !== undefined) hashes.set(address, codeHash(account.code))
  }
  const visit = (frame: FrameRecord) => {
    note(frame.to)
    for (const { address, delegate } of frame.accesses) {
      note(address)
      note(delegate)
    }
    for (const call of frame.calls) visit(call)
  }
  visit(root)
  return hashes
}
