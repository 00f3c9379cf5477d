import type { Hex } from 'viem'
import { replays } from '../../base/requester.js'
import type { StateProvider } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Simulations } from '../simulations.js'
import { accessHintsOf } from './accessHintsOf.js'
import { takeWitness, type WitnessedRun } from '../witness.js'
import { bundleMessage, type BundleRun, type BundleTransaction } from './runBundle.js'

type ReplayContext = {
  readonly state: Pick<StateProvider, 'withStateBefore'>
  readonly simulations: Simulations
}

/** A bundle that was run again, with what repeats the run. */
export type ReplayedBundle = BundleRun & { witness(): WitnessedRun }

/**
 * Runs a mined bundle in our EVM on the state with which its block begins; transactions before it in the
 * block are left out. Throws CannotSimulateError, or NodeUnavailableError.
 */
export async function replayBundle(
  { state, simulations }: ReplayContext,
  entryPoint: EntryPoint,
  blockHash: Hex,
  transaction: BundleTransaction,
): Promise<ReplayedBundle> {
  const ops = entryPoint.decodeHandleOps(transaction.data) ?? []
  const hints = ops.map((op) => {
    const ofOperation = accessHintsOf(entryPoint, op, 'execution')
    // The run raises the nonce of the transaction's sender.
    return { ...ofOperation, nonces: [...ofOperation.nonces, transaction.from] }
  })
  const subject = { requester: replays, entryPoint, override: {}, kind: 'bundle' }
  const runs = simulations.begin(subject)
  const { result, known } = await state.withStateBefore(blockHash, hints, (known, reads) =>
    runs.runBundle(known, reads, { kind: 'bundle', ...transaction }),
  )
  const message = bundleMessage(entryPoint, transaction)
  const ended = { entryPoint, extent: 'bundle', message, ...result } as const
  return { ...result, witness: () => takeWitness({ block: known.block, state: known }, ended) }
}
