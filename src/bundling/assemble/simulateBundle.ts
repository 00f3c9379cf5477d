import type { Address } from 'viem'
import type { BlockOverride } from '../../chain/comingBlock.js'
import { ethCall } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { EntryPoint, Failure } from '../../entrypoint/entryPoint.js'
import type { pricedBy } from '../../signing/transactionType.js'
import type { StoredOperation } from '../../store/pool/operations.js'
import { bundleGasLimit } from '../fees/bundleGasLimit.js'
import { carriedOperation } from '../fees/carriedOperation.js'
import { delegationOverride } from './bundleAuthorizations.js'

export type BundleSimulation = {
  readonly node: NodeClient
  readonly entryPoint: EntryPoint
  readonly executor: Address
  readonly beneficiary: Address
  readonly price: ReturnType<typeof pricedBy>
  /** The block in which it would run; undefined where the node cannot pretend one. */
  readonly pretended: BlockOverride | undefined
}

export type SimulationResult = {
  /** Operations that succeed together, in this order. */
  readonly kept: readonly StoredOperation[]
  /** Operations that make handleOps revert even when they are alone. */
  readonly failed: readonly Failed[]
  /** Operations that make it revert only beside others; they stay in the pool. */
  readonly conflicting: readonly Failed[]
}

type Failed = { readonly stored: StoredOperation; readonly failure: Failure }

/**
 * Runs handleOps as it would be sent, on the latest state and in the coming block, until it succeeds. An operation that the
 * EntryPoint names as the failed one is taken out and tried alone: if it succeeds alone it only
 * conflicts with another one, and waits in the pool. When no operation is named the bundle is halved;
 * the other half waits in the pool, so the cause is found in a few bundles while all others are
 * included. Node trouble is thrown and proves nothing about operations.
 */
export async function simulateBundle(
  simulation: BundleSimulation,
  candidates: readonly StoredOperation[],
): Promise<SimulationResult> {
  let kept = candidates
  const failed: Failed[] = []
  const conflicting: Failed[] = []
  while (kept.length > 0) {
    const failure = await simulate(simulation, kept)
    if (failure === undefined) break
    const suspect = kept.length === 1 ? kept[0] : kept[failure.index ?? -1]
    if (suspect === undefined) {
      kept = kept.slice(0, Math.ceil(kept.length / 2))
      continue
    }
    const alone = kept.length === 1 ? failure : await simulate(simulation, [suspect])
    if (alone) failed.push({ stored: suspect, failure: alone })
    else conflicting.push({ stored: suspect, failure })
    kept = kept.filter((stored) => stored !== suspect)
  }
  return { kept, failed, conflicting }
}

async function simulate(
  { node, entryPoint, executor, beneficiary, price, pretended }: BundleSimulation,
  bundle: readonly StoredOperation[],
): Promise<Failure | undefined> {
  const ops = bundle.map(({ operation }) => operation)
  const data = entryPoint.encodeHandleOps(ops, beneficiary)
  const gas = bundleGasLimit(entryPoint, bundle.map(carriedOperation), data)
  const request = { from: executor, to: entryPoint.address, data, gas, price }
  const outcome = await ethCall(node, request, 'latest', delegationOverride(ops), pretended)
  if (outcome.ok) return undefined
  const { revertData, message } = outcome
  return (
    entryPoint.decodeFailure(revertData) ?? {
      index: undefined,
      code: undefined,
      message,
      revertData,
    }
  )
}
