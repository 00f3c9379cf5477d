import type { Address, Hex } from 'viem'
import { numberToHex, parseTransaction } from 'viem/utils'
import { greatest, smallest } from '../../base/bigints.js'
import { comingBlock, comingBlockOverride } from '../../chain/comingBlock.js'
import { blockParameter, type Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { getBlock, readAtHead } from '../../chain/nodeReads.js'
import { callTransaction } from '../../chain/transactionCall.js'
import type { Fees } from '../../erc4337/fees.js'
import type { Validity } from '../../erc4337/validationData.js'
import { operationsInBundle } from '../../mempool/pool/operations.js'
import { checkRules } from '../../simulation/checkRules.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { SendingConditions } from '../createRelay.js'
import { type OpenBundle, rawTransaction } from '../outbox/bundles.js'
import { publishBundle } from '../outbox/outbox.js'
import { isBelow, type Lane, newestAttempt } from './lanes.js'

/** The bundles of a lane after those that only a relay has were looked at. */
type Looked = {
  readonly open: readonly OpenBundle[]
  /** The first bundle of the lane, where it would revert now: the relay will not include it. Not in `open`. */
  readonly failing: { readonly bundle: OpenBundle; readonly reason: string } | undefined
  /** Bundles that were taken under conditions of an earlier block, which may not hold any more. */
  readonly outdated: readonly OpenBundle[]
}

/**
 * Looks, at each head, at the bundles that only a relay has: no answer says whether it will include them. One that
 * would revert is to be taken back. One that has waited long enough is sent publicly, together with all others while
 * the relay is paused: never one that would revert, so that the public way costs no more than the relay's. One behind
 * others may revert only until these are mined; it waits for them.
 */
export async function followRelayed(
  context: BundlingContext,
  head: Head,
  lane: Lane,
  fast: Fees,
): Promise<Looked> {
  const open: OpenBundle[] = []
  const outdated: OpenBundle[] = []
  let failing: Looked['failing']
  const first = lane.open.find(({ nonce }) => nonce >= lane.mined)
  for (const bundle of lane.open) {
    if (bundle.relayedFrom === undefined || bundle.nonce < lane.mined) {
      open.push(bundle)
      continue
    }
    const failure = await bundleFailure(context, head, bundle)
    if (failure !== undefined) {
      if (bundle === first) failing = { bundle, reason: `it would revert now: ${failure}` }
      else open.push(bundle)
    } else if (isDue(context, head, bundle, fast)) open.push(await publish(context, bundle))
    else {
      open.push(bundle)
      if (isOutdated(context, bundle)) outdated.push(bundle)
    }
  }
  return { open, failing, outdated }
}

/** The last block for which a bundle is kept from the public. */
export function keptUntil({ relay }: BundlingContext, { relayedFrom = 0n }: OpenBundle): bigint {
  return relayedFrom + BigInt(relay?.publicAfter ?? 0)
}

function isOutdated({ relay }: BundlingContext, bundle: OpenBundle): boolean {
  const isTaken = relay?.answerTo(newestAttempt(bundle).hash) === 'taken'
  return isTaken && relay?.way === 'conditional'
}

/** Whether a relayed bundle is sent publicly. A relay that it has waited for without success is paused. */
function isDue(context: BundlingContext, head: Head, bundle: OpenBundle, fast: Fees): boolean {
  const { relay, logger } = context
  if (relay === undefined || relay.isPaused(head.number)) return true
  if (head.number < keptUntil(context, bundle)) return false
  const newest = newestAttempt(bundle)
  const answer = relay.answerTo(newest.hash)
  // One that it refuses, or that bids little, says nothing about the relay: anybody can make those.
  if (answer !== 'refused' && (answer !== 'taken' || !isBelow(newest, fast))) {
    relay.pause(head.number)
    const facts = { blocks: relay.publicAfter, answer: answer ?? 'none' }
    logger.error(
      facts,
      'the relay did not include a bundle: bundles are sent publicly for some blocks',
    )
  }
  return true
}

async function publish(context: BundlingContext, bundle: OpenBundle): Promise<OpenBundle> {
  const { database, logger, metrics } = context
  await publishBundle(database, bundle.id)
  metrics.count('purser_relay_bundles_total', { outcome: 'published' })
  const { id, nonce, executor, relayedFrom } = bundle
  logger.warn({ bundleId: id, executor, nonce, relayedFrom }, 'a relayed bundle is sent publicly')
  return { ...bundle, relayedFrom: undefined }
}

/**
 * The reason for which the newest transaction of a bundle would revert after `head`, at `fees` where they are given;
 * undefined when it succeeds.
 */
export async function bundleFailure(
  { node, database, definition, entryPoints }: BundlingContext,
  head: Head,
  bundle: OpenBundle,
  fees?: Fees,
): Promise<string | undefined> {
  const raw = await rawTransaction(database, definition.chainId, newestAttempt(bundle).hash)
  const { to, data = '0x', gas, authorizationList } = parseTransaction(raw)
  if (!to || gas === undefined) throw new Error(`bundle ${bundle.id} holds no call`)
  const authorizations = authorizationList ?? []
  const call = { from: bundle.executor, to: to.toLowerCase() as Address, data, gas, authorizations }
  const pretended = await comingBlockOverride(node, head)
  const request = fees ? { ...call, price: fees } : call
  const outcome = await callTransaction(node, request, head.number, pretended)
  if (outcome.ok) return undefined
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  return entryPoint?.decodeFailure(outcome.revertData)?.message ?? outcome.message
}

/** Slots that sequencers compare at most; what is beyond is not guarded. */
const MAX_SLOTS = 1_000

/**
 * The conditions under which a bundle may be included: the storage that its validations read is as it is at the
 * newest block, and neither the blocks for which it is kept from the public nor the validity of an operation is
 * over. The EntryPoint's own storage, which other bundles of ours change, is left out.
 */
export async function sendingConditions(
  context: BundlingContext,
  bundle: OpenBundle,
  until: bigint,
): Promise<SendingConditions> {
  const { database, node, engine, entryPoints, rules } = context
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  if (!entryPoint) return {}
  const head = await getBlock(node, 'latest')
  if (head === undefined) return {}
  const slots = new Map<Address, Set<Hex>>()
  const validities: Validity[] = []
  for (const { operation } of await operationsInBundle(database, bundle.id)) {
    const validated = await engine.validate(entryPoint, operation)
    if (!validated.ok) continue
    const { validation } = validated
    validities.push(validation)
    // The rules were kept when the bundle was made; they are applied for the storage that they name.
    const settings = { ...rules, mode: 'partial' } as const
    const { verdict } = checkRules(entryPoint, operation, validation.observed, settings)
    for (const [contract, read] of verdict?.accessed.reads ?? [])
      slots.set(contract, new Set([...(slots.get(contract) ?? []), ...read]))
  }
  const knownAccounts = await valuesOf(node, head, slots)
  const bounds = await boundsOf(context, head, until, validities)
  return Object.keys(knownAccounts).length > 0 ? { knownAccounts, ...bounds } : bounds
}

/** The values of slots at `head`, all in one batch. */
async function valuesOf(
  node: NodeClient,
  head: Head,
  slots: ReadonlyMap<Address, ReadonlySet<Hex>>,
): Promise<Record<Address, Record<Hex, Hex>>> {
  const places = [...slots]
    .flatMap(([contract, own]) => [...own].map((slot) => ({ contract, slot })))
    .slice(0, MAX_SLOTS)
  if (places.length === 0) return {}
  const answers = await readAtHead(head, (block) =>
    node.batch(
      places.map(({ contract, slot }) => ({
        method: 'eth_getStorageAt',
        params: [contract, slot, blockParameter(block)],
      })),
    ),
  )
  const values: Record<Address, Record<Hex, Hex>> = {}
  for (const [i, { contract, slot }] of places.entries()) {
    const answer = answers[i]
    if (answer && !answer.ok) throw answer.error
    values[contract] ??= {}
    values[contract][slot] = answer?.result as Hex
  }
  return values
}

/**
 * The last block and the last time. Arbitrum compares with blocks of L1, whose number is not known here: the
 * time stands for the block there.
 */
async function boundsOf(
  { node, definition }: BundlingContext,
  head: Head,
  until: bigint,
  validities: readonly Validity[],
): Promise<SendingConditions> {
  const times = validities.flatMap(({ validUntil }) => (validUntil > 0 ? [validUntil] : []))
  const blocks = validities.flatMap(({ blocks: { until: end } }) => (end > 0n ? [end] : []))
  if (definition.dataFee === 'arbitrum') {
    const left = Number(greatest(until - head.number, 1n))
    times.push((await comingBlock(node, head, left)).timestamp)
  }
  const timestampMax =
    times.length > 0 ? { timestampMax: numberToHex(Math.min(...times)) } : undefined
  if (definition.dataFee === 'arbitrum') return { ...timestampMax }
  return { blockNumberMax: numberToHex(smallest(until, ...blocks)), ...timestampMax }
}
