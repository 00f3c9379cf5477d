import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { Lru } from '../../base/lru.js'
import { comingBlock, comingBlockOverride } from '../../chain/comingBlock.js'
import type { CallOutcome } from '../../chain/ethCall.js'
import type { Head } from '../../chain/head.js'
import type { TransactionCall } from '../../chain/transactionCall.js'
import type { EntryPoint, Failure } from '../../erc4337/entryPoint.js'
import type { Fees } from '../../erc4337/fees.js'
import { dataGas } from '../../gas/dataGas.js'
import type { DataPrice } from '../../gas/dataPrice.js'
import { bundleCharges, preVerificationGas } from '../../gas/preVerificationGas.js'
import type { StoredOperation } from '../../mempool/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { carriedOperation, pricedOperation } from '../fees/pricedOperation.js'
import { type OpenBundle, rawTransaction } from '../outbox/bundles.js'
import { bundleCall, type Payee } from './bundleCall.js'
import {
  banForFailures,
  classifyFailure,
  countFailures,
  type FailedOperation,
  isAhead,
  roleOfFailure,
} from './failures.js'
import { failureAt, simulateBundle, simulateSequence, withoutSuspect } from './simulateBundle.js'
import { validateAgain, withoutConflicts } from './validateAgain.js'

/** The bundle that is being assembled. */
export type Assembly = {
  readonly head: Head
  /** The account that will send it. */
  readonly executor: Address
  readonly entryPoint: EntryPoint
  /** Hashes of operations to leave out this time. The steps add those that turn out to have to wait. */
  readonly waiting: Set<Hex>
  /** The bundles that are open. */
  readonly open: readonly OpenBundle[]
  /** Wei that the executor can pay for the bundle. */
  readonly funds: bigint
}

/** A bundle in flight, as it will run. */
type Flight = { readonly executor: Address; readonly request: TransactionCall }

/** The reason against one more bundle in flight; `index` names its operation, where it is known, and `code` its failure. */
type Obstacle = Partial<Pick<Failure, 'index' | 'code'>>

/**
 * The operations whose bundle succeeds behind all bundles in flight, and lets those of other executors succeed
 * behind itself: which is mined first is not ours to choose, and an operation in one bundle can change what
 * the validation of an operation in another needs. Others wait until less is in flight. Where the node cannot
 * simulate a sequence, all pass.
 */
export async function passInFlight(
  context: BundlingContext,
  assembly: Assembly & Payee,
  simulated: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  if (simulated.length === 0) return simulated
  const open = assembly.open.filter(carriesOperations)
  if (open.length === 0) return simulated
  const flights = await Promise.all(open.map((bundle) => toFlight(context, bundle)))
  let kept = simulated
  while (kept.length > 0) {
    const obstacle = await findObstacle(context, assembly, { flights, kept })
    if (obstacle === undefined) break
    const suspect = kept.length === 1 ? kept[0] : kept[obstacle.index ?? -1]
    const left = suspect
      ? withoutSuspect(kept, suspect, obstacle.code)
      : kept.slice(0, Math.ceil(kept.length / 2))
    for (const { hash } of kept) assembly.waiting.add(hash)
    for (const { hash } of left) assembly.waiting.delete(hash)
    kept = left
  }
  return kept
}

function carriesOperations({ kind, attempts }: OpenBundle): boolean {
  return kind === 'operations' && attempts.at(-1)?.noop === false
}

/**
 * Bundles in flight by the hash of their transaction: reading the data of a bundle costs more than all else that is
 * done here, and each of them is compared with every later bundle.
 */
const knownFlights = new Lru<Hex, Flight>(16)

/** Remembers a bundle that is about to be sent, so that its data need not be read. */
export function rememberFlight(hash: Hex, request: TransactionCall & { from: Address }): void {
  knownFlights.set(hash, { executor: request.from, request })
}

async function toFlight(
  { database, definition }: BundlingContext,
  { executor, entryPoint, attempts: [{ hash }] }: OpenBundle,
): Promise<Flight> {
  const known = knownFlights.get(hash)
  if (known) return known
  const raw = await rawTransaction(database, definition.chainId, hash)
  if (entryPoint === null) throw new Error('a bundle of operations has no EntryPoint')
  const { data = '0x', gas = 0n, authorizationList = [] } = parseTransaction(raw)
  const call = { from: executor, to: entryPoint, data, gas }
  const flight = { executor, request: { ...call, authorizations: authorizationList } }
  knownFlights.set(hash, flight)
  return flight
}

type Candidates = {
  readonly flights: readonly Flight[]
  readonly kept: readonly StoredOperation[]
}

async function findObstacle(
  { node }: BundlingContext,
  assembly: Assembly & Payee,
  { flights, kept }: Candidates,
): Promise<Obstacle | undefined> {
  const { head, executor, entryPoint } = assembly
  const request = bundleCall(assembly, kept)
  const { timestamp } = await comingBlock(node, head, 1)
  const run = (sequence: readonly TransactionCall[]) => simulateSequence(node, sequence, timestamp)

  const own = flights.filter((flight) => flight.executor === executor)
  const others = flights.filter((flight) => flight.executor !== executor)
  const ahead = own.map(toRequest)
  const behind = others.map(toRequest)
  const [first, second] = await Promise.all([
    run([...ahead, ...behind, request]),
    behind.length === 0 ? undefined : run([...ahead, request, ...behind]),
  ])
  const last = first?.at(-1)
  if (first === undefined || last === undefined) return undefined
  if (!last.ok) return entryPoint.decodeFailure(last.revertData) ?? {}
  const isSpoilt = (_: Flight, place: number): boolean =>
    succeeds(first, own.length + place) && !succeeds(second, own.length + 1 + place)
  return second !== undefined && others.some(isSpoilt) ? {} : undefined
}

function toRequest({ request }: Flight): TransactionCall {
  return request
}

function succeeds(outcomes: readonly CallOutcome[] | undefined, place: number): boolean {
  return outcomes?.[place]?.ok === true
}

/**
 * The selected operations that pass their second validation and may share a bundle. The others are
 * dropped or wait; those that only conflict can go in the next bundle.
 */
export async function passSecondValidation(
  context: BundlingContext,
  { head, entryPoint, waiting }: Assembly,
  selected: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  const operations = selected.map(({ operation }) => operation)
  const known = await context.engine.recall(entryPoint, operations)
  const results = await Promise.all(
    selected.map((stored) =>
      validateAgain(context, entryPoint, head, stored, known.get(stored.operation)),
    ),
  )
  for (const { kind, stored } of results) if (kind === 'wait') waiting.add(stored.hash)
  await countFailures(
    context,
    entryPoint,
    results.filter((result) => result.kind === 'drop'),
  )
  const valid = results.filter((result) => result.kind === 'valid')
  return withoutConflicts(
    valid.map((result) => ({
      ...result,
      operation: result.stored.operation,
      contextSize: result.stored.firstValidation?.contextSize,
    })),
  ).map(({ stored }) => stored)
}

/**
 * The operations whose handleOps succeeds with `fees`. Those that fail alone are dropped or wait; those
 * that fail only together with others stay in the pool, and an entity may be banned for two of them.
 */
export async function passSimulation(
  context: BundlingContext,
  assembly: Assembly & Payee,
  fees: Fees,
  valid: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  const { node } = context
  const { head, entryPoint, waiting } = assembly
  const pretended = await comingBlockOverride(node, head)
  const simulation = { ...assembly, node, price: fees, pretended }
  const { kept, failed, pairs, unpaid } = await simulateBundle(simulation, valid)
  for (const { hash } of unpaid) waiting.add(hash)
  const failures: FailedOperation[] = []
  for (const stored of failed) {
    const failure = isAhead(context, head, stored)
      ? undefined
      : await failureAt(simulation, head, stored)
    const drop = failure && (await classifyFailure(context, entryPoint, head, { stored, failure }))
    if (drop) failures.push({ stored, drop, responsible: roleOfFailure(failure.code) })
    else waiting.add(stored.hash)
  }
  await countFailures(context, entryPoint, failures)
  for (const pair of pairs) await banForFailures(context, entryPoint, pair)
  return kept
}

/**
 * The operations whose preVerificationGas repays their share of the data fee at this price. The others
 * stay in the pool until it falls: they would keep those back that repay theirs.
 */
export function passDataFee(
  { definition }: Pick<BundlingContext, 'definition'>,
  { entryPoint, waiting }: Pick<Assembly, 'entryPoint' | 'waiting'>,
  price: DataPrice | undefined,
  selected: readonly StoredOperation[],
): readonly StoredOperation[] {
  if (price === undefined) return selected
  return selected.filter((stored) => {
    const { op, contextSize, before } = carriedOperation(stored)
    const bundleSize = stored.sharedBy
    const data = { op, fees: pricedOperation(entryPoint, stored), bundleSize }
    const required = preVerificationGas(entryPoint, op, {
      bundleSize,
      ...bundleCharges(definition),
      contextSize,
      before,
      // Less gas of validation needs more here: whether that binds is for the whole bundle to say.
      verificationGasUsed: op.verificationGasLimit + op.paymasterVerificationGasLimit,
      dataGas: dataGas(entryPoint, data, price),
    })
    const repays = op.preVerificationGas >= required
    if (!repays) waiting.add(stored.hash)
    return repays
  })
}
