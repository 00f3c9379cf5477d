import type { Address, Hex, SignedAuthorization } from 'viem'
import type { ChainDefinition } from '../../chain/definition.js'
import { adviseFees } from '../../chain/fees.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { getBlock, type Head } from '../../chain/nodeReads.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import { beneficiaryGas, expectedShare, preVerificationGas } from '../../gas/preVerificationGas.js'
import {
  type Drop,
  dropOperations,
  pooledOperations,
  type StoredOperation,
} from '../../store/pool/operations.js'
import { readReputations } from '../../store/pool/reputations.js'
import type { AccessedStorage } from '../../validation/erc7562/index.js'
import type { BundlingContext } from '../bundlingContext.js'
import { assessBundle } from '../fees/assessBundle.js'
import { bundleFees, highestTip } from '../fees/bundleFees.js'
import { bundleGasLimit } from '../fees/bundleGasLimit.js'
import { pricedOperation } from '../fees/pricedOperation.js'
import { authorizationsOf, settleAuthorizations } from './bundleAuthorizations.js'
import { classifyFailure } from './classifyFailure.js'
import { banEntityOf, type Dropped, dropFailed } from './countFailures.js'
import { limitByReputation } from './limitByReputation.js'
import { roleOfFailure } from './responsibleEntity.js'
import { selectOperations } from './selectOperations.js'
import { type SimulationResult, simulateBundle } from './simulateBundle.js'
import { validateAgain } from './validateAgain.js'
import { withoutConflicts } from './withoutConflicts.js'

/** A bundle that was simulated exactly as it stands here, not signed yet. */
export type BundleDraft = {
  readonly entryPoint: EntryPoint
  readonly hashes: readonly Hex[]
  readonly data: Hex
  readonly gas: bigint
  readonly fees: Fees
  readonly authorizationList: readonly SignedAuthorization[]
}

type Assembly = {
  readonly head: Head
  readonly executor: Address
  readonly entryPoint: EntryPoint
  /** Operations to leave out this time; those that turn out to have to wait are added. */
  readonly waiting: Set<Hex>
}

/** Operations looked at for one bundle, the best first. */
const CANDIDATE_LIMIT = 500
const OPERATION_LIMIT = 250

/**
 * The next bundle of an executor: the best pooled operations that succeed together on the latest
 * state. Those that fail alone are dropped with their reason. Undefined when none can go now.
 *
 * No bundle goes that could cost more than its operations pay. One that is too small for its share of
 * preVerificationGas takes in operations that pay less for their gas; then it waits for more, at most
 * `maxBundleWait`; then it goes with the highest tip that it can pay. An operation that nothing of this
 * helps is dropped, so that its sender learns what to do.
 */
export async function assembleBundle(
  context: BundlingContext,
  { head, executor, entryPoint, waiting }: Assembly,
): Promise<BundleDraft | undefined> {
  const { definition, database, engine, node } = context
  const { chainId, maxBundleGas, maxBundleBytes, beneficiary = executor } = definition
  const { standard } = await adviseFees(node, head)
  const leastTip = standard.maxPriorityFeePerGas / 2n
  let network = standard
  for (;;) {
    const { baseFee } = head
    const query = { chainId, entryPoint: entryPoint.address, baseFee, limit: CANDIDATE_LIMIT }
    const pooled = await permitted(
      context,
      entryPoint,
      head,
      await pooledOperations(database, query),
    )
    const selected = selectOperations(
      pooled.filter(({ hash }) => !waiting.has(hash)),
      {
        entryPoint,
        baseFee,
        network,
        leastTip,
        limits: { gas: maxBundleGas, bytes: maxBundleBytes, operations: OPERATION_LIMIT },
      },
    )
    if (selected.length === 0 || !(await reaches(node, head))) return undefined
    const { ready, early, drops } = await settleAuthorizations(node, selected)
    for (const { hash } of early) waiting.add(hash)
    await dropAll(context, drops)
    const valid = await stillValid(context, { head, executor, entryPoint, waiting }, ready)
    if (valid.length === 0) continue
    const fees = bundleFees(entryPoint, valid.map(pricedOperation), network)
    const simulation = { node, entryPoint, executor, beneficiary, fees }
    const { kept, failed, conflicting } = await simulateBundle(simulation, valid)
    const dropped: Dropped[] = []
    for (const { stored, failure } of failed) {
      const drop = await classifyFailure(context, entryPoint, head, { stored, failure })
      if (drop) dropped.push({ stored, drop, culprit: roleOfFailure(failure.code) })
      else waiting.add(stored.hash)
    }
    await dropFailed(context, entryPoint, dropped)
    await banConflicting(context, entryPoint, conflicting)
    if (kept.length === 0) continue

    const ops = kept.map(({ operation }) => operation)
    const data = entryPoint.encodeHandleOps(ops, beneficiary)
    const pays = await assessBundle(engine, entryPoint, kept, data, beneficiaryGas(definition))
    const isOverdue = ({ receivedAt }: StoredOperation) =>
      Date.now() - receivedAt.getTime() >= definition.maxBundleWait
    const isCheapest = network.maxPriorityFeePerGas <= leastTip
    const canBidLess = isCheapest && kept.some(isOverdue)
    const paid = pays(fees) ? fees : canBidLess ? highestTip(fees, pays) : undefined
    if (paid) {
      const gas = bundleGasLimit(entryPoint, ops, data)
      const hashes = kept.map(({ hash }) => hash)
      const authorizationList = authorizationsOf(ops)
      return { entryPoint, hashes, data, gas, fees: paid, authorizationList }
    }
    if (!isCheapest) {
      network = { ...standard, maxPriorityFeePerGas: leastTip }
      continue
    }
    network = standard
    for (const { hash } of kept) waiting.add(hash)
    await dropAll(
      context,
      kept.filter(isOverdue).map((stored) => unshared(definition, entryPoint, stored)),
    )
  }
}

async function dropAll(
  { database, definition, logger }: Pick<BundlingContext, 'database' | 'definition' | 'logger'>,
  drops: readonly Drop[],
): Promise<void> {
  await dropOperations(database, definition.chainId, drops)
  for (const drop of drops) logger.warn(drop, 'operation dropped')
}

function unshared(
  definition: ChainDefinition,
  entryPoint: EntryPoint,
  { hash, operation }: StoredOperation,
): Drop {
  const alone = { ...expectedShare(definition), bundleSize: 1, verificationGasUsed: 0n }
  const enough = preVerificationGas(entryPoint, operation, alone)
  const reason = `too few operations came to share a bundle with; send it with preVerificationGas ${enough}, with which it can go alone, or with higher fees`
  return { hash, code: 'BUNDLE_NOT_SHARED', reason }
}

/** The candidates that reputation permits; those that it forbids leave the pool. */
async function permitted(
  { database, definition, rules, logger }: BundlingContext,
  entryPoint: EntryPoint,
  { number }: Head,
  pooled: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  if (rules.mode === 'off') return pooled
  const { chainId } = definition
  const suspects = await readReputations(database, chainId, entryPoint.address, true)
  const { allowed, drops } = limitByReputation(pooled, suspects, number)
  await dropAll({ database, definition, logger }, drops)
  return allowed
}

/**
 * The selected operations that pass their second validation and may share a bundle. Others are
 * dropped or wait; of those that only conflict, some can go in the next bundle.
 */
async function stillValid(
  context: BundlingContext,
  { head, entryPoint, waiting }: Assembly,
  selected: readonly StoredOperation[],
): Promise<StoredOperation[]> {
  const results = await Promise.all(
    selected.map((stored) => validateAgain(context, entryPoint, head, stored)),
  )
  const dropped: Dropped[] = []
  const valid: Valid[] = []
  for (const result of results) {
    const { kind, stored } = result
    if (kind === 'wait') waiting.add(stored.hash)
    else if (kind === 'drop') dropped.push(result)
    else valid.push({ ...result, operation: stored.operation })
  }
  await dropFailed(context, entryPoint, dropped)
  return withoutConflicts(valid).map(({ stored }) => stored)
}

type Valid = {
  readonly stored: StoredOperation
  readonly operation: Operation
  readonly accessed: AccessedStorage | undefined
}

/** What passed its validation just before and fails beside others is somebody's doing (GREP-040). */
async function banConflicting(
  context: BundlingContext,
  entryPoint: EntryPoint,
  conflicting: SimulationResult['conflicting'],
): Promise<void> {
  if (context.rules.mode === 'off') return
  for (const { stored, failure } of conflicting) {
    // Somebody's money that others have used up is no proof of bad will.
    if (failure.code === 'AA21' || failure.code === 'AA31') continue
    const culprit = roleOfFailure(failure.code)
    if (culprit) await banEntityOf(context, entryPoint, stored, culprit)
  }
}

/** Whether bundles would be simulated on the head's state at least, not on that of an older block. */
async function reaches(node: NodeClient, head: Head): Promise<boolean> {
  const latest = await getBlock(node, 'latest')
  return latest !== undefined && latest.number >= head.number
}
