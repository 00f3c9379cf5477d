import type { Command } from 'commander'
import { ConfigError } from '../../errors/configError.js'
import { findBrokenAudit, listAudit } from '../../store/tenants/audit.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'

/** `purser audit list|verify` */
export function defineAuditCommand(audit: Command): void {
  onStore(
    audit.command('list').description('the last 200 changes, newest first'),
    async ({ store }) => {
      const page = { limit: 200, before: undefined }
      const { items } = await listAudit(store.database, undefined, page)
      printTable(
        items.map(({ id, at, actor, actor_id, ip, action, object_id, app_id }) => ({
          id,
          at,
          actor,
          actorId: actor_id,
          ip,
          action,
          objectId: object_id,
          appId: app_id,
        })),
      )
    },
  )
  onStore(
    audit.command('verify').description('check that no entry was changed or taken out'),
    async ({ store }) => {
      const broken = await findBrokenAudit(store.database)
      if (broken !== undefined)
        throw new ConfigError(`The audit log was changed at entry ${broken}, or before it.`)
      console.log('The audit log is whole.')
    },
  )
}
