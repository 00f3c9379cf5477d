import type { Address } from 'viem'
import type { PurserError } from '../errors/purserError.js'
import {
  EntityReputationError,
  RuleViolationError,
  UnstakedEntityFullError,
} from '../errors/ruleErrors.js'
import type { EntityFacts } from '../store/pool/reputations.js'
import { opsAllowed, statusOf, THROTTLED_OPERATIONS } from './reputation.js'

/** The entities of an operation that is to be taken into the pool. */
export type AdmittedEntities = {
  readonly entryPoint: Address
  readonly sender: Address
  /** Undefined where the sender exists. */
  readonly factory: Address | undefined
  readonly paymaster: Address | undefined
  readonly staked: {
    readonly account: boolean
    readonly factory: boolean
    readonly paymaster: boolean
  }
}

type UsedRole = keyof AdmittedEntities['staked']
type Counts = { asSender: number; asPaymaster: number; asFactory: number }

const countOf = { account: 'asSender', paymaster: 'asPaymaster', factory: 'asFactory' } as const

/** A use of an entity that the pool already has, or takes: who it is by which role. */
type Use = { readonly role: UsedRole; readonly address: Address }

/** Whom to ask `readEntityFacts` about. */
export function usesOf({ sender, factory, paymaster }: AdmittedEntities): Use[] {
  return [
    { role: 'account', address: sender },
    ...(factory ? [{ role: 'factory', address: factory } as const] : []),
    ...(paymaster ? [{ role: 'paymaster', address: paymaster } as const] : []),
  ]
}

/** An operation of the same sender that leaves the pool; it is taken to have had the same factory. */
type Replaced = { readonly paymaster: Address | null }

/** Does the operation that leaves the pool use the entity in this role? */
function frees({ role, address }: Use, replaced: Replaced | undefined): boolean {
  return replaced !== undefined && (role !== 'paymaster' || replaced.paymaster === address)
}

export type EntityView = {
  /** Why the rules of reputation refuse it in place of `replaced`. */
  refuse(entities: AdmittedEntities, replaced: Replaced | undefined): PurserError | undefined
  /** Entities whose opsSeen it counts: staked senders, factories and paymasters, but tanks of ours. */
  counted(entities: AdmittedEntities): Address[]
  /** It was taken into the pool in place of `replaced`. */
  take(entities: AdmittedEntities, replaced: Replaced | undefined): void
}

/**
 * The reputation and live operations of entities as they become while admissions are decided one after
 * the other, in memory. UREP-010, the limit of unstaked senders, is for `decideAdmission`.
 */
export function createEntityView(facts: readonly EntityFacts[]): EntityView {
  const nameOf = (entryPoint: Address, address: Address): string => `${entryPoint} ${address}`
  const known = new Map<string, EntityFacts & Counts>(
    facts.map((each) => [nameOf(each.entryPoint, each.address), { ...each }]),
  )
  const find = (entryPoint: Address, address: Address): EntityFacts & Counts => {
    const found = known.get(nameOf(entryPoint, address))
    if (!found) throw new Error(`nothing was read about ${address}`)
    return found
  }

  const refuseUse = (
    { role, address }: Use,
    { entryPoint, staked }: AdmittedEntities,
    replaced: Replaced | undefined,
  ): PurserError | undefined => {
    const entity = find(entryPoint, address)
    if (entity.trusted) return undefined
    const pending = entity[countOf[role]] - (frees({ role, address }, replaced) ? 1 : 0)
    const status = statusOf(entity, pending)
    if (status === 'banned') {
      const { opsSeen, opsIncluded } = entity
      const reason = `is banned: of ${opsSeen} operations ${opsIncluded} were included`
      return new EntityReputationError({ role, address }, 'GREP-010', reason)
    }
    if (status === 'throttled' && pending >= THROTTLED_OPERATIONS) {
      const reason = `is throttled: only ${THROTTLED_OPERATIONS} of its operations may be pending`
      return new EntityReputationError({ role, address }, 'GREP-020', reason)
    }
    if (staked[role]) return undefined
    const allowed = opsAllowed(entity)
    return role === 'paymaster' && pending >= allowed
      ? new UnstakedEntityFullError({ role, address }, 'UREP-020', allowed)
      : undefined
  }

  /** STO-040: who is the sender of one operation is no other entity of another. */
  const refuseRole = (
    { role, address }: Use,
    { entryPoint }: AdmittedEntities,
  ): PurserError | undefined => {
    const { asSender, asPaymaster, asFactory } = find(entryPoint, address)
    const other = role === 'account' ? asPaymaster + asFactory : asSender
    if (other === 0) return undefined
    const as = role === 'account' ? 'factory or paymaster' : 'sender'
    return new RuleViolationError({
      message: `${role} ${address} is the ${as} of another pending operation`,
      rule: 'STO-040',
      place: { entity: role, address },
    })
  }

  return {
    refuse(entities, replaced) {
      for (const use of usesOf(entities)) {
        const error = refuseRole(use, entities) ?? refuseUse(use, entities, replaced)
        if (error) return error
      }
      return undefined
    },
    counted: (entities) =>
      usesOf(entities)
        .filter(({ role }) => role !== 'account' || entities.staked.account)
        .filter(({ address }) => !find(entities.entryPoint, address).trusted)
        .map(({ address }) => address),
    take(entities, replaced) {
      for (const use of usesOf(entities))
        if (!frees(use, replaced)) find(entities.entryPoint, use.address)[countOf[use.role]]++
    },
  }
}
