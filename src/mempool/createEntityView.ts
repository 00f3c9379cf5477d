import type { Address } from 'viem'
import type { PurserError } from '../base/errors/purserError.js'
import {
  EntityReputationError,
  RuleViolationError,
  UnstakedEntityFullError,
} from '../base/errors/ruleErrors.js'
import type { EntityFacts } from './pool/reputations.js'
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
  /** The roles of those that break a rule by an exception of the operator. */
  readonly excepted: readonly UsedRole[]
}

type UsedRole = keyof AdmittedEntities['staked']
type Counts = { asSender: number; asPaymaster: number; asFactory: number }

const countOf = { account: 'asSender', paymaster: 'asPaymaster', factory: 'asFactory' } as const

/** The use of an entity by an operation: its role and its address. */
type Use = { readonly role: UsedRole; readonly address: Address }

/** The entities that an operation uses, about which `readEntityFacts` is to be asked. */
export function usesOf({ sender, factory, paymaster }: AdmittedEntities): Use[] {
  return [
    { role: 'account', address: sender },
    ...(factory ? [{ role: 'factory', address: factory } as const] : []),
    ...(paymaster ? [{ role: 'paymaster', address: paymaster } as const] : []),
  ]
}

/** An operation of the same sender that leaves the pool; it is taken to have had the same factory. */
type Replaced = { readonly paymaster: Address | null }

/** Whether the replaced operation used the entity in the same role, so that the count stays. */
function wasUsedBefore({ role, address }: Use, replaced: Replaced | undefined): boolean {
  return replaced !== undefined && (role !== 'paymaster' || replaced.paymaster === address)
}

export type EntityView = ReturnType<typeof createEntityView>

/**
 * The reputation and pending operations of entities as they become while admissions are decided one
 * after the other, in memory. `decideAdmission` applies UREP-010, the limit of unstaked senders.
 */
export function createEntityView(facts: readonly EntityFacts[]) {
  const nameOf = (entryPoint: Address, address: Address): string => `${entryPoint} ${address}`
  const factsByName = new Map<string, EntityFacts & Counts>(
    facts.map((entity) => [nameOf(entity.entryPoint, entity.address), { ...entity }]),
  )
  const find = (entryPoint: Address, address: Address): EntityFacts & Counts => {
    const entity = factsByName.get(nameOf(entryPoint, address))
    if (!entity) throw new Error(`nothing was read about ${address}`)
    return entity
  }

  const refuseUse = (
    { role, address }: Use,
    { entryPoint, staked, excepted }: AdmittedEntities,
    replaced: Replaced | undefined,
  ): PurserError | undefined => {
    const entity = find(entryPoint, address)
    if (entity.trusted) return undefined
    const pending = entity[countOf[role]] - (wasUsedBefore({ role, address }, replaced) ? 1 : 0)
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
    const isExcepted = excepted.includes(role)
    const allowed = isExcepted ? THROTTLED_OPERATIONS : opsAllowed(entity)
    return (isExcepted || role === 'paymaster') && pending >= allowed
      ? new UnstakedEntityFullError({ role, address }, 'UREP-020', allowed)
      : undefined
  }

  /** STO-040: the sender of one operation must not be another entity of another operation. */
  const refuseRole = (
    { role, address }: Use,
    { entryPoint }: AdmittedEntities,
  ): PurserError | undefined => {
    const { asSender, asPaymaster, asFactory } = find(entryPoint, address)
    const otherUses = role === 'account' ? asPaymaster + asFactory : asSender
    if (otherUses === 0) return undefined
    const otherRole = role === 'account' ? 'different' : 'sender'
    return new RuleViolationError({
      // In the words of other bundlers, which clients look for.
      message: `${role} ${address} is used as a ${otherRole} entity in another UserOperation currently in mempool`,
      rule: 'STO-040',
      place: { entity: role, address },
    })
  }

  return {
    /** The refusal of the operation, in place of `replaced`, by the rules of reputation. */
    refuse(entities: AdmittedEntities, replaced: Replaced | undefined): PurserError | undefined {
      for (const use of usesOf(entities)) {
        const error = refuseRole(use, entities) ?? refuseUse(use, entities, replaced)
        if (error) return error
      }
      return undefined
    },
    /** Entities whose opsSeen it raises: staked senders, factories, and paymasters except trusted ones. */
    counted: (entities: AdmittedEntities): Address[] =>
      usesOf(entities)
        .filter(({ role }) => role !== 'account' || entities.staked.account)
        .filter(({ address }) => !find(entities.entryPoint, address).trusted)
        .map(({ address }) => address),
    /** Counts an operation that was taken into the pool in place of `replaced`. */
    take(entities: AdmittedEntities, replaced: Replaced | undefined): void {
      for (const use of usesOf(entities))
        if (!wasUsedBefore(use, replaced))
          find(entities.entryPoint, use.address)[countOf[use.role]]++
    },
  }
}
