import type { Address } from 'viem'
import type { StateOverride } from '../../chain/ethCall.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import {
  type BlockEnv,
  call,
  type EvmContext,
  fromHex,
  intrinsicGas,
  type Miss,
  type Outcome,
  overlay,
  type Overrides,
  type State,
} from '../../evm/index.js'
import { authorizationOverride, mergeOverrides, toEvmOverrides } from '../evmOverrides.js'
import { type Extent, type Observation, observeOperation } from './observeOperation.js'

/** The sender and beneficiary of a simulated bundle: ASCII "purser", no contract on any chain. */
export const HANDLER: Address = '0x0000000000000000000000000000707572736572'

/** The handler's account is known to be empty, so it need not be read. */
export const handlerOverride: StateOverride = {
  [HANDLER]: { nonce: '0x0', balance: '0x0', code: '0x' },
}

/**
 * Instructions that one simulation may execute. Some more of the cheapest would fit into 16.7 million
 * gas, the most that a transaction may use. Bounds what an operation can cost us.
 */
export const MAX_STEPS = 20_000_000
/** Gas for the EntryPoint's own work on top of what `bundleGas` counts: the copies of a context of 64 KiB, at most. */
const HANDLE_OPS_GAS = 600_000
/** The most gas: still an exact number when other amounts are added. */
const MAX_GAS = 2 ** 50

/** The block and the state that an operation is run on. */
export type SimulationState = { readonly block: BlockEnv; readonly state: State }

/** The outcome of handleOps, and what the operation did inside of it. */
export type Simulation = { readonly outcome: Outcome; readonly observed: Observation }

/** The state in which `op` runs: its authorization applied, then the caller's override, on `state`. */
export function stateFor(state: State, op: Operation, override?: StateOverride): State {
  return overlay(state, pretendedFor(op, override))
}

/** All that is pretended where `op` runs. */
function pretendedFor(op: Operation, override: StateOverride = {}): Overrides {
  const others = { ...handlerOverride, ...authorizationOverride(op) }
  return toEvmOverrides(mergeOverrides(others, override))
}

/** The parts of the state that are pretended where `op` runs. */
export function pretendedParts(op: Operation, override?: StateOverride): readonly Miss[] {
  return [...pretendedFor(op, override)].flatMap(([address, { state, stateDiff = state }]) => [
    { kind: 'account' as const, address },
    ...[...(stateDiff?.keys() ?? [])].map((slot) => ({ kind: 'slot' as const, address, slot })),
  ])
}

/** A message that calls `handleOps` with this one operation, from an address that nobody owns. */
export function handleOpsCall(
  entryPoint: EntryPoint,
  op: Operation,
  block: Pick<BlockEnv, 'fork' | 'calldataFloor'>,
) {
  const message = {
    from: HANDLER,
    to: entryPoint.address,
    data: fromHex(entryPoint.encodeHandleOps([op], HANDLER)),
    value: 0n,
    // An authorization makes its signer warm (EIP-7702).
    accessList: op.authorization && [{ address: op.sender, storageKeys: [] }],
  }
  const { intrinsic, floor } = intrinsicGas(block, message)
  const needed = Number(entryPoint.bundleGas(op)) + intrinsic + HANDLE_OPS_GAS
  // Below the calldata floor no node runs it; long call data with small limits may lie there (EIP-7623).
  return { ...message, gas: Math.min(Math.max(needed, floor), MAX_GAS) }
}

/**
 * Runs `op` by the EntryPoint's own handleOps, with enough gas to grant all its limits. Signatures and
 * time ranges are noted but do not end the run (see `observeOperation`).
 */
export function simulateOperation(
  { block, state }: SimulationState,
  entryPoint: EntryPoint,
  op: Operation,
  extent: Extent,
  { onMiss, record, maxSteps }: Pick<EvmContext, 'onMiss' | 'record' | 'maxSteps'>,
): Simulation {
  const { observed, inspector } = observeOperation(entryPoint, op, extent)
  const context = { state, block, onMiss, record, maxSteps, inspector }
  const outcome = call(context, handleOpsCall(entryPoint, op, block))
  const { refused } = observed
  if (refused === undefined || outcome.kind !== 'done') return { outcome, observed }
  observed.validated = undefined
  return { outcome: { ...outcome, success: false, output: refused, logs: [] }, observed }
}
