import type { Address, Hex } from 'viem'
import type { Fees } from '../chain/feeAdvice.js'
import { adviseFees } from '../chain/fees.js'
import type { Head } from '../chain/nodeReads.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { type Drop, dropOperations, pooledOperations } from '../store/operations.js'
import { bundleFees } from './bundleFees.js'
import { bundleGasLimit } from './bundleGas.js'
import type { BundlingContext } from './bundlingContext.js'
import { judgeFailure } from './judgeFailure.js'
import { selectOperations } from './selectOperations.js'
import { simulateBundle } from './simulateBundle.js'

/** A bundle that was simulated exactly as it stands here, not signed yet. */
export type BundleDraft = {
  readonly entryPoint: EntryPoint
  readonly hashes: readonly Hex[]
  readonly data: Hex
  readonly gas: bigint
  readonly fees: Fees
}

type Assembly = {
  readonly head: Head
  readonly executor: Address
  readonly entryPoint: EntryPoint
  /** Operations to leave out this time; those that turn out to have to wait are added. */
  readonly waiting: Set<Hex>
}

/** Operations looked at for one bundle, the best first. */
const candidateLimit = 500
const operationLimit = 250

/**
 * The next bundle of an executor: the best pooled operations that succeed together on the latest
 * state. Those that fail alone are dropped with their reason. Undefined when none can go now.
 */
export async function assembleBundle(
  context: BundlingContext,
  { head, executor, entryPoint, waiting }: Assembly,
): Promise<BundleDraft | undefined> {
  const { definition, database, node } = context
  const { chainId, maxBundleGas, maxBundleBytes, beneficiary = executor } = definition
  const { standard } = await adviseFees(node, head)
  for (;;) {
    const { baseFee } = head
    const query = { chainId, entryPoint: entryPoint.address, baseFee, limit: candidateLimit }
    const pooled = await pooledOperations(database, query)
    const selected = selectOperations(
      pooled.filter(({ hash }) => !waiting.has(hash)),
      {
        entryPoint,
        baseFee,
        network: standard,
        leastTip: standard.maxPriorityFeePerGas / 2n,
        limits: { gas: maxBundleGas, bytes: maxBundleBytes, operations: operationLimit },
      },
    )
    if (selected.length === 0) return undefined
    const fees = bundleFees(
      selected.map(({ operation }) => operation),
      standard,
    )
    const simulation = { node, entryPoint, executor, beneficiary, fees }
    const { kept, failed } = await simulateBundle(simulation, selected)
    const drops: Drop[] = []
    for (const found of failed) {
      const drop = await judgeFailure(context, entryPoint, head, found)
      if (drop) drops.push(drop)
      else waiting.add(found.stored.hash)
    }
    await dropOperations(database, chainId, drops)
    for (const drop of drops) context.logger.warn(drop, 'operation dropped')
    if (kept.length > 0) {
      const ops = kept.map(({ operation }) => operation)
      const data = entryPoint.encodeHandleOps(ops, beneficiary)
      const gas = bundleGasLimit(entryPoint, ops, data)
      return { entryPoint, hashes: kept.map(({ hash }) => hash), data, gas, fees }
    }
  }
}
