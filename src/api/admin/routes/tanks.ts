import type { Address } from 'viem'
import { contracts } from '../../../admin/contracts.js'
import { zeroAddress } from '../../../encoding/constants.js'
import { ChainNotStartedError } from '../../../errors/requestErrors.js'
import { ConflictError, InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import { alarmSince } from '../../../store/ledger/alarms.js'
import { findFund, listFundsOfApp, putFund, type StoredFund } from '../../../store/ledger/funds.js'
import {
  findTank,
  findTankById,
  listTanksOfAccount,
  listTanksOfApp,
  type StoredTank,
} from '../../../store/ledger/tanks.js'
import { audited } from '../../../store/tenants/audit.js'
import type { AdminContext } from '../../adminContext.js'
import { type Route, serve } from '../route.js'
import { servedChain } from './records/servedChain.js'

async function encode(stored: StoredTank, appId: string, context: AdminContext) {
  const chainId = Number(stored.chain_id)
  const level = await context.levelOf(stored)
  return {
    id: stored.id,
    appId,
    chainId,
    entryPoint: stored.entry_point,
    kind: stored.kind,
    address: stored.address,
    owner: stored.owner,
    deposit: level?.deposit ?? null,
    locked: level?.locked ?? null,
    runway: level ? { daily: level.runway.daily, days: level.runway.days ?? null } : null,
    lowSince: (await alarmSince(context.database, stored.id)) ?? null,
    createdAt: stored.created_at,
  }
}

function addressOf(text: string): Address {
  return text.toLowerCase() as Address
}

function encodeFund(stored: StoredFund) {
  return {
    chainId: Number(stored.chain_id),
    mode: stored.mode,
    credited: stored.credited,
    alarmWei: stored.alarm_wei,
    alarmDays: stored.alarm_days,
  }
}

export const tankRoutes: readonly Route[] = serve(contracts.tank)({
  async 'GET /tanks'({ context, accountId }) {
    const stored = await listTanksOfAccount(context.database, accountId)
    const ofApps = stored.flatMap((each) =>
      each.app_id === null ? [] : [encode(each, each.app_id, context)],
    )
    return { items: await Promise.all(ofApps) }
  },
  async 'GET /apps/{appId}/tanks'({ context, app }) {
    const stored = await listTanksOfApp(context.database, app.id)
    return { items: await Promise.all(stored.map((each) => encode(each, app.id, context))) }
  },
  async 'GET /apps/{appId}/tanks/{tankId}'({ context, app, params: { tankId } }) {
    const stored = await findTankById(context.database, app.id, tankId)
    if (stored === undefined) throw new NotFoundError('Tank')
    return encode(stored, app.id, context)
  },
  async 'POST /apps/{appId}/tanks'({ context, caller, app, body }) {
    const { chainId } = body
    const { entryPoints } = servedChain(context, chainId)
    const entryPoint = entryPoints.get(addressOf(body.entryPoint))
    if (entryPoint === undefined)
      throw new InvalidFieldError('entryPoint', `is none of ${[...entryPoints.keys()].join(', ')}`)
    const owner = addressOf(body.owner)
    if (owner === zeroAddress) throw new InvalidFieldError('owner', 'must be able to withdraw')
    const made = await audited(context.database, caller.actor, async ({ trx, record }) => {
      const known = await findTank(trx, app.id, chainId, entryPoint.address, 'gas')
      if (known !== undefined)
        throw new ConflictError(`The app has the tank ${known.address} there already.`)
      const wanted = { appId: app.id, entryPoint, owner }
      const stored = await context.registerTank(trx, chainId, wanted)
      if (stored === undefined) throw new NotFoundError('Chain')
      const { entry_point: at, kind, signer } = stored
      await record({
        action: 'tank.create',
        objectId: stored.address,
        appId: app.id,
        accountId: app.accountId,
        after: { chainId, entryPoint: at, kind, owner: stored.owner, signer },
      })
      return stored
    })
    return encode(made, app.id, context)
  },
  async 'GET /apps/{appId}/tanks/{tankId}/deployment'({ context, app, params: { tankId } }) {
    const stored = await findTankById(context.database, app.id, tankId)
    if (stored === undefined) throw new NotFoundError('Tank')
    const steps = await context.stepsOf(stored)
    if (steps === undefined) throw new ChainNotStartedError(Number(stored.chain_id))
    return { items: steps }
  },
  'GET /apps/{appId}/funds': async ({ context, app }) => ({
    items: (await listFundsOfApp(context.database, app.id)).map(encodeFund),
  }),
  'PATCH /apps/{appId}/funds/{chainId}': ({ context, caller, app, params: { chainId }, body }) =>
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
})
