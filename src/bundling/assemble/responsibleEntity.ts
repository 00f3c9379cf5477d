import type { Address } from 'viem'
import type { EntityRole, Party } from '../../validation/erc7562/index.js'

/** An operation's entities and whether a stake makes them answer for others. */
export type BundledEntities = {
  readonly sender: Address
  /** Undefined where the sender exists. */
  readonly factory: Address | undefined
  readonly paymaster: Address | undefined
  readonly accountStaked: boolean
  readonly factoryStaked: boolean
}

/**
 * Whom reputation blames for what `role` did. A staked factory answers for the account it creates
 * (EREP-020), a staked account for its paymaster (EREP-030). An unstaked account is never counted.
 */
export function responsibleEntity(role: EntityRole, suspects: BundledEntities): Party | undefined {
  const { sender, factory, paymaster, accountStaked, factoryStaked } = suspects
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

/** What befalls an operation by time or by another operation; nobody's doing. */
const nobodys = new Set(['AA10', 'AA25', 'AA22', 'AA27', 'AA32', 'AA37'])

/** Whose doing a failure of the EntryPoint is; undefined = nobody's. */
export function roleOfFailure(code: string | undefined): EntityRole | undefined {
  if (code === undefined) return 'account'
  if (nobodys.has(code)) return undefined
  if (/^AA1/.test(code)) return 'factory'
  return /^AA[35]/.test(code) ? 'paymaster' : 'account'
}
