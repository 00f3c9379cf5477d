import type { Address, Hex, SignedAuthorization } from 'viem'
import { greatest } from '../../base/bigints.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import { acceptedTip } from '../../chain/fees.js'
import { getBlock } from '../../chain/nodeReads.js'
import type { TipFloor } from '../../chain/tipFloor.js'
import type { Database } from '../../db/database.js'
import { mostBundleGas } from '../../erc4337/bundleGas.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Fees } from '../../erc4337/fees.js'
import { dataCost, dataGas, dataSteps } from '../../gas/dataGas.js'
import { afterSteps, type DataPrice, dataPriceAt } from '../../gas/dataPrice.js'
import { placeholder } from '../../gas/placeholder.js'
import { bundleCharges, bundleTip, preVerificationGas } from '../../gas/preVerificationGas.js'
import type { Drop, StoredOperation } from '../../mempool/pool/operations.js'
import { type PoolQuery, pooledOperations } from '../../mempool/pool/pooledOperations.js'
import { readReputations } from '../../mempool/pool/reputations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { assessBundle } from '../fees/assessBundle.js'
import { assuredTip, bundleFees } from '../fees/bundleFees.js'
import { executorFees, isUnderCeiling, underCeiling } from '../feeCeiling.js'
import { carriedOperation, pricedOperation } from '../fees/pricedOperation.js'
import { isOverdue, passAuthorizations } from './authorizations.js'
import { bundleCall, type Payee, readPayee } from './bundleCall.js'
import { dropFromPool } from './dropFromPool.js'
import { planBid } from './planBid.js'
import {
  aloneGas,
  limitByReputation,
  type Selection,
  selectOperations,
} from './selectOperations.js'
import {
  type Assembly,
  passDataFee,
  passInFlight,
  passSecondValidation,
  passSimulation,
} from './steps.js'

/** A bundle that was simulated exactly as it stands here, not signed yet. */
export type BundleDraft = {
  readonly entryPoint: EntryPoint
  readonly hashes: readonly Hex[]
  readonly senders: readonly Address[]
  readonly data: Hex
  readonly gas: bigint
  readonly fees: Fees
  readonly authorizationList: readonly SignedAuthorization[]
  /** wei that its sender must have for data on top of gas limit times fee. */
  readonly dataReserve: bigint
  /** The times at which its operations were received. */
  readonly receivedAt: readonly Date[]
  /** Others of its EntryPoint wait: it has more than half of what a bundle may have, or some were left out. */
  readonly leavesOthers: boolean
}

/** Pooled operations that are read for one bundle, the best first. */
const CANDIDATE_LIMIT = 500
const OPERATION_LIMIT = 250
/** Times that as many are read while the executor can pay for too few of them. */
const MOST_PAGES = 20
/** Milliseconds after which no other operations are tried when none was valid: what is in flight has to be followed. */
const MOST_TIME = 20_000
/** A nonce as wide as an executor's gets, for bytes that are counted before it is known. */
const wideNonce = Number(placeholder(3, 41))

/**
 * The next bundle of an executor: the best pooled operations that succeed together on the latest
 * state. Those that fail alone are dropped with their reason. Undefined when none can go now; `unaffordable` when the
 * executor has too little for any.
 *
 * No bundle goes that could cost more than its operations pay. One that is too small for its share of
 * preVerificationGas takes in operations that pay less for their gas; then it waits for more, at most
 * `maxBundleWait`; then it goes with the highest tip that it can pay. An operation that none of this
 * helps is dropped, so that its sender learns what to do.
 *
 * Where the chain's nodes ask for a tip by the bytes of a bundle, it bids that much; an operation that cannot pay
 * what its own bytes ask for waits.
 *
 * No bid is above the operator's fee ceiling: its operations wait until the chain asks for less.
 *
 * Where the chain charges a data fee on top of gas, operations whose preVerificationGas does not repay their
 * share of it at present wait until it falls.
 *
 * Each attempt goes through seven steps. A step passes on what may go; the rest has left the pool or is
 * in `waiting` then, so that the next attempt sees other operations.
 */
export async function assembleBundle(
  context: BundlingContext,
  wanted: Assembly,
): Promise<BundleDraft | 'unaffordable' | undefined> {
  const { definition, node, engine } = context
  const { head, executor, entryPoint, waiting } = wanted
  const assembly = { ...wanted, ...(await readPayee(context, executor, entryPoint)) }
  const { standard, tipFloor } = await executorFees(context, head)
  const price = await dataPriceAt(node, definition.dataFee, head)
  const dataPrice = price && afterSteps(price, dataSteps.bundle)
  const accepted = acceptedTip({ standard, tipFloor })
  /** The least tip (wei per gas) with which the bundle is worth sending. */
  let leastTip = accepted
  /** The fees that a bundle bids when all its operations pay them. */
  let target: Fees = standard
  const begin = performance.now()
  for (;;) {
    // (1) Select the pooled operations that pay most for their gas, as far as reputation permits
    const choice = await selectPooled(context, assembly, { target, leastTip })
    if (choice === 'unaffordable') return choice
    const { selected, passedOver, isLimited } = choice
    if (selected.length === 0 || !(await hasReached(context, assembly))) return undefined

    // (2) Leave out those that do not repay their data now, or whose EIP-7702 authorization has to wait
    const repaying = passDataFee(context, assembly, dataPrice, selected)
    const ready = await passAuthorizations(context, assembly, repaying)

    // (3) Validate each again, and leave out those that would disturb others
    const valid = await passSecondValidation(context, assembly, ready)
    if (valid.length === 0 && performance.now() - begin > MOST_TIME) return undefined
    if (valid.length === 0) continue

    // (4) Simulate handleOps, and isolate those that make it revert
    const priced = valid.map((stored) => pricedOperation(entryPoint, stored))
    const fees = bundleFees(entryPoint, priced, target)
    const simulated = await passSimulation(context, assembly, fees, valid)

    // (5) Leave out those that would disturb the bundles in flight, or be disturbed by them
    const kept = await passInFlight(context, assembly, simulated)
    if (kept.length === 0) continue

    // (6) Decide what to bid
    const asked = bundleTip(entryPoint, kept.map(carriedOperation), tipFloor)
    if (fees.maxPriorityFeePerGas < asked) {
      const isPayable =
        isUnderCeiling(definition, {
          maxFeePerGas: head.baseFee + asked,
          maxPriorityFeePerGas: asked,
        }) && kept.some(paysTip(entryPoint, head.baseFee, asked))
      if (!isPayable) waiting.add(largestByTip(entryPoint, kept, tipFloor))
      leastTip = isPayable ? asked : accepted
      const wanted = withTip(standard, greatest(leastTip, standard.maxPriorityFeePerGas))
      target = underCeiling(definition, wanted)
      continue
    }
    const { to, data, gas, authorizations: authorizationList } = bundleCall(assembly, kept)
    const transaction = { chainId: definition.chainId, to, data, gas, authorizationList }
    const charged = dataCost(dataPrice, { ...transaction, nonce: wideNonce, ...fees })
    const plan = planBid({
      overdue: kept.filter((stored) => isOverdue(stored, definition)),
      fees,
      targetTip: target.maxPriorityFeePerGas,
      leastTip,
      tipFloor: asked,
      pays: await assessBundle(engine, entryPoint, kept, data, bundleCharges(definition), charged),
    })

    // (7) Bid, or try again: cheaper with the same operations, or without them
    if (plan.kind === 'bid') {
      return {
        entryPoint,
        hashes: kept.map(({ hash }) => hash),
        senders: kept.map(({ operation }) => operation.sender),
        data,
        gas: gas + (charged?.posterGas ?? 0n),
        fees: plan.fees,
        authorizationList,
        dataReserve: charged?.reserve ?? 0n,
        receivedAt: kept.map(({ receivedAt }) => receivedAt),
        leavesOthers:
          passedOver > 0 ||
          kept.length < selected.length ||
          2n * gas > mostBundleGas(entryPoint, definition.maxBundleGas) ||
          data.length - 2 > definition.maxBundleBytes ||
          2 * kept.length > OPERATION_LIMIT,
      }
    }
    if (plan.kind === 'retryCheaper') {
      target = underCeiling(definition, withTip(standard, leastTip))
      continue
    }
    target = standard
    leastTip = accepted
    for (const { hash } of kept) waiting.add(hash)
    // In a larger bundle, of an executor with more money, they may pay their share.
    if (plan.kind === 'drop' && !isLimited)
      await dropUnshared(context, entryPoint, plan.dropped, dataPrice)
  }
}

/** Drops operations that no bundle helps, with what their senders have to send. */
async function dropUnshared(
  context: BundlingContext,
  entryPoint: EntryPoint,
  dropped: readonly StoredOperation[],
  dataPrice: DataPrice | undefined,
): Promise<void> {
  const drops = dropped.map((stored) =>
    notShared(context.definition, entryPoint, stored, dataPrice),
  )
  await dropFromPool(context, drops)
}

type Choice = {
  readonly selected: readonly StoredOperation[]
  /** The number of the others, which pay less or do not fit. */
  readonly passedOver: number
  /** Whether the executor's money, not the chain, bounds the gas of the bundle. */
  readonly isLimited: boolean
}

/**
 * The best of the pooled operations that reputation permits and the executor can pay for: one with high limits must not
 * hold up all others; `unaffordable` when it has too little for any. Those of banned entities are dropped.
 */
async function selectPooled(
  context: BundlingContext,
  { head, entryPoint, waiting, open, funds, creationGas }: Assembly & Payee,
  { target, leastTip }: Pick<Selection, 'target' | 'leastTip'>,
): Promise<Choice | 'unaffordable'> {
  const { database, definition, rules } = context
  const { chainId, maxBundleGas, maxBundleBytes } = definition
  const { baseFee } = head
  const own = open.filter((bundle) => bundle.entryPoint === entryPoint.address)
  const query = {
    chainId,
    entryPoint: entryPoint.address,
    baseFee,
    leastTip,
    without: waiting,
    inFlight: own.flatMap(({ senders }) => senders),
    limit: CANDIDATE_LIMIT,
  }
  const most = mostBundleGas(entryPoint, maxBundleGas)
  const isLimited = funds < most * target.maxFeePerGas
  const affordable = isLimited ? funds / target.maxFeePerGas : most
  // What needs more than the chain allows goes alone; what needs more than the executor has does not go.
  const isAffordable = (stored: StoredOperation) =>
    !isLimited || aloneGas(entryPoint, stored) + creationGas <= affordable
  let candidates = await readCandidates(database, query, isAffordable)
  if (rules.mode !== 'off') {
    const reputations = await readReputations(database, chainId, entryPoint.address, true)
    const { allowed, drops } = limitByReputation(candidates, reputations, head.number)
    await dropFromPool(context, drops)
    candidates = allowed
  }
  const select = (from: readonly StoredOperation[], gas: bigint) =>
    selectOperations(from, {
      entryPoint,
      baseFee,
      target,
      leastTip,
      limits: { gas: gas - creationGas, bytes: maxBundleBytes, operations: OPERATION_LIMIT },
    })
  const selected = select(candidates.filter(isAffordable), affordable)
  if (selected.length === 0 && isLimited && select(candidates, most).length > 0)
    return 'unaffordable'
  return { selected, passedOver: candidates.length - selected.length, isLimited }
}

/**
 * The best pooled operations: one page, and further ones up to `MOST_PAGES` until the executor can pay for half a page of them.
 * Those that it cannot pay for must not take the places of all others.
 */
async function readCandidates(
  database: Database,
  query: PoolQuery,
  isAffordable: (stored: StoredOperation) => boolean,
): Promise<readonly StoredOperation[]> {
  const candidates: StoredOperation[] = []
  const without = new Set(query.without)
  let affordable = 0
  for (let page = 0; page < MOST_PAGES; page++) {
    const read = await pooledOperations(database, { ...query, without })
    candidates.push(...read)
    affordable += read.filter(isAffordable).length
    if (read.length < query.limit || 2 * affordable >= query.limit) break
    for (const { hash } of read) without.add(hash)
  }
  return candidates
}

/** The fees with another tip; the most that they pay for the base fee stays. */
function withTip({ maxFeePerGas, maxPriorityFeePerGas }: Fees, tip: bigint): Fees {
  const raised = greatest(tip - maxPriorityFeePerGas, 0n)
  return { maxFeePerGas: maxFeePerGas + raised, maxPriorityFeePerGas: tip }
}

/** Whether an operation is sure to pay this tip (wei per gas). */
function paysTip(entryPoint: EntryPoint, baseFee: bigint, tip: bigint) {
  return (stored: StoredOperation): boolean =>
    assuredTip(entryPoint, pricedOperation(entryPoint, stored), baseFee) >= tip
}

/** The operation for which the chain asks the highest tip, because it has most bytes for its gas. */
function largestByTip(
  entryPoint: EntryPoint,
  kept: readonly StoredOperation[],
  floor: TipFloor,
): Hex {
  const tips = kept.map((stored) => bundleTip(entryPoint, [carriedOperation(stored)], floor))
  const [first = 0n, ...others] = tips
  const { hash } = kept[tips.indexOf(greatest(first, ...others))] ?? {}
  if (hash === undefined) throw new Error('a bundle has operations')
  return hash
}

/** Whether bundles would be simulated on the head's state at least, not on that of an older block. */
async function hasReached({ node }: BundlingContext, { head }: Assembly): Promise<boolean> {
  const latest = await getBlock(node, 'latest')
  return latest !== undefined && latest.number >= head.number
}

function notShared(
  definition: ChainDefinition,
  entryPoint: EntryPoint,
  stored: StoredOperation,
  price: DataPrice | undefined,
): Drop {
  const { op, contextSize, before } = carriedOperation(stored)
  const fees = pricedOperation(entryPoint, stored)
  const alone = {
    bundleSize: 1,
    ...bundleCharges(definition),
    verificationGasUsed: 0n,
    contextSize,
    before,
    dataGas: dataGas(entryPoint, { op, fees, bundleSize: 1 }, price),
  }
  const enough = preVerificationGas(entryPoint, op, alone)
  const reason = `too few operations came to share a bundle with; send it with preVerificationGas ${enough}, with which it can go alone, or with higher fees`
  return { hash: stored.hash, code: 'BUNDLE_NOT_SHARED', reason }
}
