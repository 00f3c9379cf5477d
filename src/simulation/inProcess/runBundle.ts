import type { Address, Hex } from 'viem'
import type { EntryPoint, OperationOutcome } from '../../erc4337/entryPoint.js'
import { forkGas } from '../../erc4337/forkGas.js'
import { type EntityGas, gasInBundle } from '../../erc4337/rules/index.js'
import {
  type AccessList,
  call,
  type EvmAuthorization,
  type EvmLog,
  type EvmMessage,
  fromHex,
  toHex,
  type InspectedCall,
  type Inspector,
  type Touched,
  trackBlock,
  trackState,
} from '../../evm/index.js'
import { type Allowance, type Ground, type PassEnd, ranOutOfSteps } from './runOperation.js'
import { outcomesOf } from './simulatedOperation.js'
import { MAX_STEPS } from './simulateOperation.js'

/** A transaction with a bundle, as it was signed. */
export type BundleTransaction = {
  readonly from: Address
  /** Calldata of handleOps. */
  readonly data: Hex
  readonly gas: number
  /** wei per gas that was paid */
  readonly gasPrice: bigint
  readonly authorizations: readonly EvmAuthorization[]
  readonly accessList?: AccessList
}

/** A bundle to be run once more, whole. */
export type BundleTask = { readonly kind: 'bundle' } & BundleTransaction

/** The state that a run of a bundle asked for, and the blocks whose hash it asked for. */
type BundleReads = { readonly touched: Touched; readonly blockHashes: ReadonlySet<bigint> }

/** A run of a bundle on complete state. */
export type BundleRun = BundleReads & {
  readonly kind: 'done'
  /** gas, as its receipt would show it */
  readonly gasUsed: number
  /** Its operations as the EntryPoint's events list them, in their order; none where it reverts. */
  readonly outcomes: readonly Pick<OperationOutcome, 'userOpHash' | 'success' | 'actualGasUsed'>[]
  readonly success: boolean
  readonly logs: readonly EvmLog[]
  /** See `gasInBundle`; undefined where the record of the validations would take too much memory. */
  readonly used: readonly EntityGas[] | undefined
}

/** Runs a bundle once, on state that may be incomplete. Only its validations are recorded. */
export function runBundle(
  ground: Ground,
  entryPoint: EntryPoint,
  task: BundleTask,
  { runSteps }: Allowance,
): PassEnd<BundleRun> {
  const maxSteps = Math.min(runSteps, MAX_STEPS)
  const inspector = validationsOnly(entryPoint)
  const { state, touched } = trackState(ground.known)
  const { block, asked } = trackBlock(ground.block)
  const outcome = call(
    { state, block, onMiss: 'guess', record: true, maxSteps, inspector },
    bundleMessage(entryPoint, task),
  )
  if (outcome.kind !== 'done') {
    return maxSteps < MAX_STEPS && ranOutOfSteps(outcome) ? { kind: 'outgrown' } : outcome
  }
  const { gasUsed, record, success, logs } = outcome
  const ops = entryPoint.decodeHandleOps(task.data) ?? []
  const prices = () => forkGas(entryPoint.version, [block.fork])
  const outcomes = outcomesOf(entryPoint, outcome).map(
    ({ userOpHash, success, actualGasUsed }) => ({ userOpHash, success, actualGasUsed }),
  )
  return {
    kind: 'done',
    gasUsed,
    success,
    logs,
    outcomes,
    touched,
    blockHashes: asked,
    used: record && gasInBundle({ ...entryPoint, gas: prices }, ops, record.root),
  }
}

/** The call of a bundle's transaction. */
export function bundleMessage(
  { address: to }: Pick<EntryPoint, 'address'>,
  { from, data, gas, gasPrice, authorizations, accessList = [] }: BundleTransaction,
): EvmMessage {
  const input = { from, to, data: fromHex(data), value: 0n, gas, gasPrice, accessList }
  return authorizations.length > 0 ? { ...input, authorizations } : input
}

/** An inspector that ends the record where the first operation is executed: all are validated before. */
function validationsOnly({ address, callLayout }: EntryPoint): Inspector {
  const isExecution = ({ depth, to, input }: InspectedCall): boolean =>
    depth === 1 && to === address && toHex(input.subarray(0, 4)) === callLayout.innerHandleOp
  return { enter: () => undefined, leave: () => undefined, endsRecord: isExecution }
}
