import { z } from 'zod'
import { NotFoundError } from '../../../errors/restErrors.js'
import { alarmSince } from '../../../store/ledger/alarms.js'
import { findFund, listFundsOfApp, putFund, type StoredFund } from '../../../store/ledger/funds.js'
import { findTankById, listTanksOfApp, type StoredTank } from '../../../store/ledger/tanks.js'
import { audited } from '../../../store/tenants/audit.js'
import type { AdminContext } from '../../adminContext.js'
import { address, appParams, id, listOf, time, wei } from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

const tank = z.object({
  id,
  chainId: z.int(),
  entryPoint: address,
  /** gas: gives it; token: takes tokens for it. */
  kind: z.enum(['gas', 'token']),
  address,
  owner: address,
  /** wei in the EntryPoint now; null = this Purser does not serve the chain. */
  deposit: wei.nullable(),
  /** Since when less is available than the alarm of the app's fund says. */
  lowSince: time.nullable(),
  createdAt: time,
})

async function encode(stored: StoredTank, { database, depositOf }: AdminContext) {
  const chainId = Number(stored.chain_id)
  return {
    id: stored.id,
    chainId,
    entryPoint: stored.entry_point,
    kind: stored.kind,
    address: stored.address,
    owner: stored.owner,
    deposit: (await depositOf(chainId, stored.entry_point, stored.address)) ?? null,
    lowSince: (await alarmSince(database, stored.id)) ?? null,
    createdAt: stored.created_at,
  }
}

const fund = z.object({
  chainId: z.int(),
  mode: z.enum(['tank', 'shared', 'native']),
  /** wei, ever */
  credited: wei,
  alarmWei: wei,
  alarmDays: z.int(),
})

function encodeFund(stored: StoredFund) {
  return {
    chainId: Number(stored.chain_id),
    mode: stored.mode,
    credited: stored.credited,
    alarmWei: stored.alarm_wei,
    alarmDays: stored.alarm_days,
  }
}

/** Tanks are made, filled and emptied by commands, which hold the keys for it. */
export const tankRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps/{appId}/tanks',
    summary: 'The tanks of an app with their deposits',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(tank),
    async run({ context, app }) {
      const stored = await listTanksOfApp(context.database, app.id)
      return { items: await Promise.all(stored.map((each) => encode(each, context))) }
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/tanks/{tankId}',
    summary: 'One tank',
    who: 'account',
    role: 'viewer',
    params: appParams.extend({ tankId: id }),
    answer: tank,
    async run({ context, app, params: { tankId } }) {
      const stored = await findTankById(context.database, app.id, tankId)
      if (stored === undefined) throw new NotFoundError('Tank')
      return encode(stored, context)
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/funds',
    summary: 'What the app pays with on each chain, where that was set',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(fund),
    run: async ({ context, app }) => ({
      items: (await listFundsOfApp(context.database, app.id)).map(encodeFund),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/apps/{appId}/funds/{chainId}',
    summary:
      'Below what is available, in wei or in days of average use, tank.low is sent; 0 = never',
    who: 'account',
    role: 'admin',
    params: appParams.extend({
      chainId: z.coerce
        .number()
        .int()
        .min(1)
        .max(2 ** 53 - 1),
    }),
    body: z.strictObject({ alarmWei: wei, alarmDays: z.int().min(0).max(3_650) }).partial(),
    answer: fund,
    run: ({ context, caller, app, params: { chainId }, body }) =>
      audited(context.database, caller.actor, async ({ trx, record }) => {
        const before = await findFund(trx, app.id, chainId)
        const after = await putFund(trx, app.id, chainId, {
          ...(body.alarmWei !== undefined && { alarmWei: BigInt(body.alarmWei) }),
          ...(body.alarmDays !== undefined && { alarmDays: body.alarmDays }),
        })
        await record({
          action: 'fund.update',
          objectId: after.id,
          appId: app.id,
          accountId: app.accountId,
          before: before && encodeFund(before),
          after: encodeFund(after),
        })
        return encodeFund(after)
      }),
  }),
]
