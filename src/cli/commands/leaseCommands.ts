import type { Command } from 'commander'
import { ConfigError } from '../../base/errors/configError.js'
import { giveUpLease, listLeases } from '../../db/leases.js'
import { audited } from '../../tenants/audit.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'

/** `purser lease list|release NAME` */
export function defineLeaseCommand(lease: Command): void {
  onStore(
    lease.command('list').description('list the leases with holder and expiry'),
    async ({ store }) => {
      printTable(
        (await listLeases(store.database)).map(({ name, holder, token, remaining }) => ({
          name,
          holder,
          token,
          seconds: remaining > 0 ? Math.ceil(remaining / 1_000) : 'free',
        })),
      )
    },
  )
  onStore(
    lease
      .command('release <name>')
      .description(
        'release a lease, such as "bundler 10", so that another process can take it at once',
      ),
    async ({ store, id }) => {
      const held = await audited(store.database, commandActor(), async ({ trx, record }) => {
        const lease = (await listLeases(trx)).find(({ name }) => name === id)
        if (lease === undefined || !(await giveUpLease(trx, lease)))
          throw new ConfigError(`There is no lease ${id}; see \`purser lease list\`.`)
        const before = { holder: lease.holder, token: lease.token.toString() }
        await record({
          action: 'lease.release',
          objectId: id,
          accountId: null,
          appId: null,
          before,
        })
        return lease
      })
      console.log(`The lease ${id} of ${held.holder} is free.`)
    },
  )
}
