import type { Address } from 'viem'
import { type FrameRecord, toHex } from '../../evm/index.js'
import { DELEGATION_MARKER } from '../delegation.js'
import type { EntryPoint } from '../entryPoint.js'
import type { Operation } from '../operation.js'
import { splitPhases } from './phases.js'
import { type Entity, framesOf } from './ruleContext.js'
import { isStaked, type StakePolicy, type Stakes } from './stakes.js'
import type { EntityRole, Party } from './violation.js'

/** Gas of validation by the entity that used it. */
export type EntityGas = ReadonlyMap<Address, number>

/** gas by which the first use of a slot in a transaction exceeds later ones (EIP-2929) */
const COLD_SLOT = 2_000

/** The gas of an operation's staked entities in its second validation: those that have a stake, whatever they may do without. */
export function gasOfStaked(
  entities: readonly (Party & { readonly gasUsed: number })[],
  stakes: Stakes,
  policy: StakePolicy,
): EntityGas {
  return sumByAddress(entities.filter(({ role }) => isStaked(stakes[role], policy)))
}

/**
 * The gas that each operation's entities used in a bundle, as if the operation had been alone; `root` is
 * the EntryPoint's frame. A slot or account that was warm only because of an earlier operation counts as
 * cold, and each write as the most expensive one. Empty for an operation whose calls are not found.
 */
export function gasInBundle(
  entryPoint: EntryPoint,
  ops: readonly Operation[],
  root: FrameRecord,
): EntityGas[] {
  const warm = new Set<string>()
  const validations = validationsIn(entryPoint, ops, root)
  return ops.map((op, at) => {
    const context = { entryPoint, op, entities: entitiesOf(op) }
    const phases = splitPhases(context, { ...root, calls: validations[at] ?? [] })
    const touched = new Set<string>()
    const used = phases.map(({ entity, gasUsed, root: called }) => {
      let saved = 0
      for (const [item, price] of touchedBy(entryPoint, called)) {
        if (touched.has(item)) continue
        touched.add(item)
        if (item.endsWith(WRITTEN) || warm.has(item)) saved += price
      }
      return { ...entity, gasUsed: gasUsed + saved }
    })
    for (const item of touched) warm.add(item)
    return sumByAddress(used)
  })
}

/**
 * EREP-070: the entities that used over 10 % less gas in the bundle than in the second validation. One
 * that did not run in the bundle is not among them.
 */
export function savers(second: EntityGas, inBundle: EntityGas): Address[] {
  return [...second.keys()].filter((address) => {
    const [alone, bundled] = [second.get(address), inBundle.get(address)]
    return alone !== undefined && bundled !== undefined && bundled * 10 < alone * 9
  })
}

/** The calls by which the EntryPoint validates each operation of a bundle. */
export function validationsIn(
  entryPoint: Pick<EntryPoint, 'callLayout'>,
  ops: readonly Operation[],
  { calls }: FrameRecord,
): FrameRecord[][] {
  let begin = 0
  return ops.map((op) => {
    const end = endOfValidation(entryPoint, op, calls, begin)
    const own = calls.slice(begin, end)
    begin = end
    return own
  })
}

/** The index behind the call that ends an operation's validation, at least `begin`. */
function endOfValidation(
  { callLayout }: Pick<EntryPoint, 'callLayout'>,
  { sender, paymaster }: Operation,
  calls: readonly FrameRecord[],
  begin: number,
): number {
  const [to, selector] =
    paymaster === undefined
      ? [sender, callLayout.validateUserOp]
      : [paymaster, callLayout.validatePaymasterUserOp]
  const at = calls.findIndex(
    (call, i) => i >= begin && call.to === to && toHex(call.input.subarray(0, 4)) === selector,
  )
  return at < 0 ? calls.length : at + 1
}

function entitiesOf({ sender, factory, paymaster }: Operation) {
  const entity = (role: EntityRole, address: Address): Entity => ({ role, address, staked: true })
  return {
    account: entity('account', sender),
    ...(factory && factory !== DELEGATION_MARKER && { factory: entity('factory', factory) }),
    ...(paymaster && { paymaster: entity('paymaster', paymaster) }),
  }
}

/** Slots and accounts, with the gas that may have been saved on each; precompiles are never cold. */
function* touchedBy(entryPoint: EntryPoint, called: FrameRecord): Generator<[string, number]> {
  const { write, coldAccount } = entryPoint.gas()
  for (const { storageAddress, reads, writes, accesses } of framesOf(called)) {
    for (const slot of [...reads.keys(), ...writes.keys()])
      yield [`${storageAddress} ${slot}`, COLD_SLOT]
    for (const slot of writes.keys()) yield [`${storageAddress} ${slot}${WRITTEN}`, write]
    for (const { address, codeSize } of accesses)
      if (codeSize > 0 && address !== entryPoint.address) yield [address, coldAccount]
  }
}

/** The name of a slot that was written ends so. */
const WRITTEN = ' written'

function sumByAddress(
  used: readonly { readonly address: Address; readonly gasUsed: number }[],
): EntityGas {
  const sums = new Map<Address, number>()
  for (const { address, gasUsed } of used) sums.set(address, (sums.get(address) ?? 0) + gasUsed)
  return sums
}
