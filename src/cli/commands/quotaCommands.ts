import type { Command } from 'commander'
import { audited } from '../../store/tenants/audit.js'
import { findKeyById } from '../../store/tenants/keys.js'
import { changeApp } from '../../tenancy/manageApps.js'
import { changeKey } from '../../tenancy/manageKeys.js'
import { usageOf } from '../../tenancy/usageOf.js'
import { commandActor } from '../commandActor.js'
import { onStore } from '../onStore.js'
import { printTable } from '../printTable.js'
import { unknownObject } from '../unknownObject.js'

/** Gives a command the flags of quotas. */
export function withQuotas(command: Command): Command {
  return command
    .option('--per-second <requests>', 'over all processes; any number when absent')
    .option('--per-minute <requests>', 'the same in a minute')
    .option('--per-day <requests>', 'the same in a day, in UTC')
}

/** `purser app limit` */
export function defineAppLimit(app: Command): void {
  onStore(
    withQuotas(
      app
        .command('limit')
        .argument('<id>', 'the app')
        .description('how much all its keys together may ask; without options: any number'),
    ),
    async ({ store: { database }, flags, id }) => {
      const { parseQuotas } = await import('../parseKeyLimits.js')
      const quotas = parseQuotas(flags)
      const changed = await audited(database, commandActor(), (change) =>
        changeApp(change, id, { quotas }),
      )
      if (!changed) throw unknownObject('app', id)
      console.log(`quotas  ${quotasText(changed.quotas)}`)
    },
  )
}

/** `purser key limit|usage` */
export function defineKeyQuotas(key: Command): void {
  onStore(
    withQuotas(
      key
        .command('limit')
        .argument('<id>', 'the key')
        .description('how much it may ask; without options: any number'),
    ),
    async ({ store: { database }, flags, id }) => {
      const { parseQuotas } = await import('../parseKeyLimits.js')
      const quotas = parseQuotas(flags)
      const { appId = '' } = (await findKeyById(database, id)) ?? {}
      const changed = await audited(database, commandActor(), (change) =>
        changeKey(change, appId, id, { quotas }),
      )
      if (!changed) throw unknownObject('key', id)
      console.log(`quotas  ${quotasText(changed.quotas)}`)
    },
  )
  onStore(
    key
      .command('usage')
      .argument('<id>', 'the key')
      .description('its requests of the last 30 days; refused are those above a limit'),
    async ({ store: { database }, id }) => {
      if ((await findKeyById(database, id)) === undefined) throw unknownObject('key', id)
      printTable((await usageOf(database, id)).items)
    },
  )
}

/** `{"perDay":1000}`, or a dash for any number. */
export function quotasText(quotas: object | null): string {
  return quotas === null ? '-' : JSON.stringify(quotas)
}
