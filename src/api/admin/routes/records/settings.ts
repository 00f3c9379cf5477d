import { contracts } from '../../../../admin/contracts.js'
import { schemaVersion, version } from '../../../../base/version.js'
import type { Instance } from '../../../../config/instance.js'
import { audited } from '../../../../store/tenants/audit.js'
import { type Route, serve } from '../../route.js'

function levelsOf({ logLevel }: Instance) {
  return { now: logLevel.now(), configured: logLevel.configured }
}

export const settingRoutes: readonly Route[] = serve(contracts.setting)({
  async 'GET /settings'({ context: { instance } }) {
    const { startedAt, process, file, settings: items } = instance
    const logLevel = levelsOf(instance)
    return { version, schema: schemaVersion, startedAt, process, file, logLevel, items }
  },
  async 'PATCH /settings/log-level'({ context, caller, body: { level } }) {
    const { database, instance } = context
    await audited(database, caller.actor, ({ record }) =>
      record({
        action: 'log_level.update',
        objectId: 'instance',
        accountId: null,
        appId: null,
        before: { level: instance.logLevel.now() },
        after: { level },
      }),
    )
    instance.logLevel.change(level)
    return levelsOf(instance)
  },
})
