import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { Lru } from '../../base/lru.js'
import { comingBlock } from '../../chain/comingBlock.js'
import type { CallOutcome, CallRequest } from '../../chain/ethCall.js'
import { type OpenBundle, openBundles } from '../../store/outbox/bundles.js'
import { operationsInBundle, type StoredOperation } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { bundleGasLimit } from '../fees/bundleGasLimit.js'
import { carriedOperation } from '../fees/carriedOperation.js'
import type { Assembly } from './assembly.js'
import { delegationOverride } from './bundleAuthorizations.js'
import { simulateSequence } from './simulateSequence.js'

/** A bundle in flight, as it will run. */
type Flight = { readonly executor: Address; readonly request: CallRequest }

/** The reason against a bundle beside those in flight; `index` names its operation, where it is known. */
type Obstacle = { readonly index: number | undefined }

/**
 * The operations whose bundle succeeds behind all bundles in flight, and lets those of other executors succeed
 * behind itself: which is mined first is not ours to choose, and an operation in one bundle can change what
 * the validation of an operation in another needs. Others wait until less is in flight. Where the node cannot
 * simulate a sequence, all pass.
 */
export async function passInFlight(
  context: BundlingContext,
  assembly: Assembly,
  simulated: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  const { database, definition } = context
  if (simulated.length === 0) return simulated
  const open = (await openBundles(database, definition.chainId)).filter(carriesOperations)
  if (open.length === 0) return simulated
  const flights = open.map(toFlight)
  const authorized = open.filter(({ attempts: [{ raw }] }) => raw.startsWith(SET_CODE_TYPE))
  const delegating = await Promise.all(authorized.map(({ id }) => operationsInBundle(database, id)))
  let kept = simulated
  while (kept.length > 0) {
    const obstacle = await findObstacle(context, assembly, {
      flights,
      kept,
      delegating: delegating.flat(),
    })
    if (obstacle === undefined) break
    const suspect = kept.length === 1 ? kept[0] : kept[obstacle.index ?? -1]
    const left = suspect
      ? kept.filter((stored) => stored !== suspect)
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

/** EIP-7702 transactions begin so. */
const SET_CODE_TYPE = '0x04'

/**
 * Bundles in flight by the hash of their transaction: reading the data of a bundle costs more than all else that is
 * done here, and each of them is looked at beside every bundle that comes after it.
 */
const knownFlights = new Lru<Hex, Flight>(16)

function toFlight({ executor, entryPoint, attempts: [{ hash, raw }] }: OpenBundle): Flight {
  const known = knownFlights.get(hash)
  if (known) return known
  if (entryPoint === null) throw new Error('a bundle of operations has no EntryPoint')
  const { data = '0x', gas = 0n } = parseTransaction(raw)
  const flight = { executor, request: { from: executor, to: entryPoint, data, gas } }
  knownFlights.set(hash, flight)
  return flight
}

type Candidates = {
  readonly flights: readonly Flight[]
  readonly kept: readonly StoredOperation[]
  /** Operations in flight with an authorization. */
  readonly delegating: readonly StoredOperation[]
}

async function findObstacle(
  { node, definition }: BundlingContext,
  { head, executor, entryPoint }: Assembly,
  { flights, kept, delegating }: Candidates,
): Promise<Obstacle | undefined> {
  const { beneficiary = executor } = definition
  const ops = kept.map(({ operation }) => operation)
  const data = entryPoint.encodeHandleOps(ops, beneficiary)
  const gas = bundleGasLimit(entryPoint, kept.map(carriedOperation), data)
  const request = { from: executor, to: entryPoint.address, data, gas }
  const override = delegationOverride([...delegating.map(({ operation }) => operation), ...ops])
  const { timestamp } = await comingBlock(node, head, 1)
  const run = (sequence: readonly CallRequest[]) =>
    simulateSequence(node, sequence, timestamp, override)

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
  if (!last.ok) return { index: entryPoint.decodeFailure(last.revertData)?.index }
  const isSpoilt = (_: Flight, place: number): boolean =>
    succeeds(first, own.length + place) && !succeeds(second, own.length + 1 + place)
  return second !== undefined && others.some(isSpoilt) ? { index: undefined } : undefined
}

function toRequest({ request }: Flight): CallRequest {
  return request
}

function succeeds(outcomes: readonly CallOutcome[] | undefined, place: number): boolean {
  return outcomes?.[place]?.ok === true
}
