import type { Command } from 'commander'
import type { Hex } from 'viem'
import { ConfigError } from '../../errors/configError.js'
import { requestCancellation } from '../../store/pool/cancellations.js'
import { announceOperations, findOperation } from '../../store/pool/operations.js'
import { findAppOwner } from '../../store/tenants/apps.js'
import { audited } from '../../store/tenants/audit.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'

const hashPattern = /^0x[0-9a-fA-F]{64}$/

/** `purser operation cancel <hash> --chain <id>` */
export function defineOperationCommand(operation: Command): void {
  onStore(
    operation
      .command('cancel')
      .argument('<hash>')
      .description('take an operation back that is not included yet')
      .requiredOption('--chain <id>', 'its chain'),
    async ({ store, flags, id }) => {
      const chainId = Number(flags.chain)
      if (!Number.isSafeInteger(chainId) || chainId <= 0)
        throw new ConfigError('--chain must be a chain id.')
      if (!hashPattern.test(id)) throw new ConfigError('The hash must be 0x and 64 hex digits.')
      const hash = id.toLowerCase() as Hex
      const state = await audited(store.database, commandActor(), async ({ trx, record }) => {
        const appId = (await findOperation(trx, chainId, hash))?.appId ?? null
        const before = await requestCancellation(trx, chainId, hash)
        const accountId = appId && ((await findAppOwner(trx, appId))?.accountId ?? null)
        const object = { objectId: hash, accountId, appId }
        if (before === 'pooled' || before === 'bundled')
          await record({
            action: 'operation.cancel',
            ...object,
            before: { chainId, state: before },
          })
        return before
      })
      if (state === undefined) throw new ConfigError(`Chain ${chainId} has no operation ${hash}.`)
      if (state !== 'pooled' && state !== 'bundled')
        throw new ConfigError(`Operation ${hash} is ${state} already.`)
      await announceOperations(store.database, chainId)
      console.log(
        state === 'pooled'
          ? `Cancelled operation ${hash}.`
          : `The bundle of operation ${hash} is being cancelled, unless it is included first: see its status.`,
      )
    },
  )
}
