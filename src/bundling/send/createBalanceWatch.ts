import type { Address } from 'viem'
import type { BundlingContext } from '../bundlingContext.js'
import { balanceAlarm } from '../executorStatus.js'
import type { Followed } from './followBundles.js'

/** Logs when an executor or the treasury runs out of money, and when it has some again: once each. */
export function createBalanceWatch({
  definition,
  signers,
  treasury,
  logger,
}: Pick<BundlingContext, 'definition' | 'signers' | 'treasury' | 'logger'>) {
  const alarmed = new Set<Address>()
  return ({ states }: Followed): void => {
    const roles = signers.map(({ address }) => ['executor', address] as const)
    const accounts = treasury ? [...roles, ['treasury', treasury.address] as const] : roles
    for (const [role, address] of accounts) {
      const balance = states.get(address)?.balance
      if (balance === undefined) continue
      const alarm = balanceAlarm(role, balance, definition)
      if (alarm !== undefined && !alarmed.has(address)) logger.error({ address }, alarm)
      if (alarm === undefined && alarmed.has(address))
        logger.info({ address, balance }, `the ${role} has money again`)
      if (alarm === undefined) alarmed.delete(address)
      else alarmed.add(address)
    }
  }
}
