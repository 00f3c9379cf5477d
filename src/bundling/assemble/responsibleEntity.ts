import type { Address } from 'viem'
import type { EntityRole, Party } from '../../validation/erc7562/index.js'

/** The entities of an operation, and whether a stake makes them answer for others. */
export type BundledEntities = {
  readonly sender: Address
  /** Undefined where the sender exists. */
  readonly factory: Address | undefined
  readonly paymaster: Address | undefined
  readonly accountStaked: boolean
  readonly factoryStaked: boolean
}

/**
 * The entity whose reputation suffers for a failure of `role`. A staked factory answers for the account
 * that it creates (EREP-020), a staked account for its paymaster (EREP-030). An unstaked account has no
 * reputation: undefined.
 */
export function responsibleEntity(role: EntityRole, entities: BundledEntities): Party | undefined {
  const { sender, factory, paymaster, accountStaked, factoryStaked } = entities
  const account = accountStaked ? ({ role: 'account', address: sender } as const) : undefined
  const creator = factory && ({ role: 'factory', address: factory } as const)
  switch (role) {
    case 'factory':
      return creator
    case 'account':
      return factoryStaked ? (creator ?? account) : account
    default:
      return account ?? (paymaster && { role: 'paymaster', address: paymaster })
  }
}

/** Failures that come with time, or by another operation: no entity is responsible. */
const circumstantialCodes = new Set(['AA10', 'AA25', 'AA22', 'AA27', 'AA32', 'AA37'])

/** The role that is responsible for a failure of the EntryPoint; undefined where none is. */
export function roleOfFailure(code: string | undefined): EntityRole | undefined {
  if (code === undefined) return 'account'
  if (circumstantialCodes.has(code)) return undefined
  if (/^AA1/.test(code)) return 'factory'
  return /^AA[35]/.test(code) ? 'paymaster' : 'account'
}
