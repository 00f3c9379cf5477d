import type { Address, Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { greatest, smallest } from '../../base/bigints.js'
import { comingBlock } from '../../chain/comingBlock.js'
import { blockParameter, type Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { getBlock, readAtHead } from '../../chain/nodeReads.js'
import type { Validity } from '../../entrypoint/validationData.js'
import type { OpenBundle } from '../../store/outbox/bundles.js'
import { operationsInBundle } from '../../store/pool/operations.js'
import { checkRules } from '../../validation/checkRules.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { SendingConditions } from '../createRelay.js'

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
