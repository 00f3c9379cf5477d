import type { Address } from 'viem'
import { ChainNotStartedError } from '../../../base/errors/requestErrors.js'
import { ConflictError, InvalidFieldError, NotFoundError } from '../../../base/errors/restErrors.js'
import { zeroAddress } from '../../../erc4337/encoding/constants.js'
import { createFunds, type FundState, type Funds } from '../../../paymaster/funds.js'
import { alarmSince } from '../../../paymaster/ledger/alarms.js'
import {
  findFund,
  listFundsOfApp,
  putFund,
  type StoredFund,
} from '../../../paymaster/ledger/funds.js'
import {
  findTank,
  findTankById,
  listTanksOfAccount,
  listTanksOfApp,
  type StoredTank,
} from '../../../paymaster/ledger/tanks.js'
import type { AdminContext } from '../../adminContext.js'
import { contracts } from '../../contracts/contracts.js'
import { camelCased } from '../camelCased.js'
import { type Route, type RouteRequest, serve } from '../route.js'
import { servedChain } from './chains.js'

async function encodeTank(stored: StoredTank, appId: string, context: AdminContext) {
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
  const { chainId, mode, credited, alarmWei, alarmDays } = camelCased(stored)
  return { chainId, mode, credited, alarmWei, alarmDays }
}

export const tankRoutes: readonly Route[] = serve(contracts.tank)({
  async 'GET /tanks'({ context, accountId }) {
    const stored = await listTanksOfAccount(context.database, accountId)
    const ofApps = stored.flatMap((each) =>
      each.app_id === null ? [] : [encodeTank(each, each.app_id, context)],
    )
    return Promise.all(ofApps)
  },
  async 'GET /apps/{appId}/tanks'({ context, app }) {
    const stored = await listTanksOfApp(context.database, app.id)
    return Promise.all(stored.map((each) => encodeTank(each, app.id, context)))
  },
  async 'GET /apps/{appId}/tanks/{tankId}'({ context, app, params: { tankId } }) {
    const stored = await findTankById(context.database, app.id, tankId)
    return stored && encodeTank(stored, app.id, context)
  },
  async 'POST /apps/{appId}/tanks'({ context, change, app, body }) {
    const { chainId } = body
    const { entryPoints } = servedChain(context, chainId)
    const entryPoint = entryPoints.get(addressOf(body.entryPoint))
    if (entryPoint === undefined)
      throw new InvalidFieldError('entryPoint', `is none of ${[...entryPoints.keys()].join(', ')}`)
    const owner = addressOf(body.owner)
    if (owner === zeroAddress) throw new InvalidFieldError('owner', 'must be able to withdraw')
    const made = await change(async ({ trx, record }) => {
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
    return encodeTank(made, app.id, context)
  },
  async 'GET /apps/{appId}/tanks/{tankId}/deployment'({ context, app, params: { tankId } }) {
    const stored = await findTankById(context.database, app.id, tankId)
    if (stored === undefined) return undefined
    const steps = await context.stepsOf(stored)
    if (steps === undefined) throw new ChainNotStartedError(Number(stored.chain_id))
    return [...steps]
  },
  'GET /apps/{appId}/funds': async ({ context, app }) =>
    (await listFundsOfApp(context.database, app.id)).map(encodeFund),
  'PATCH /apps/{appId}/funds/{chainId}': ({ change, app, params: { chainId }, body }) =>
    change(async ({ trx, record }) => {
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

function encodeCredit({ mode, credit: { balance, locked, available } }: FundState) {
  return { mode, credit: { balance, locked, available } }
}

type FundRequest = Pick<
  RouteRequest<ModeEndpoint, (typeof contracts.fund)[ModeEndpoint]>,
  'context' | 'change' | 'app' | 'params'
>
type ModeEndpoint = 'PATCH /apps/{appId}/funds/{chainId}/mode'

/** Changes the funds of any app on a configured chain. Throws InvalidFieldError, TankError. */
function changeFunds(
  { context, change, app, params: { chainId } }: FundRequest,
  action: 'fund.update' | 'fund.credit',
  run: (funds: Funds) => Promise<FundState>,
) {
  if (!context.chainIds.has(chainId))
    throw new InvalidFieldError('chainId', `is none of the configured ${[...context.chainIds]}`)
  return change(async ({ trx, record }) => {
    const funds = createFunds({ database: trx, chainId })
    const before = encodeCredit(await funds.show(app.id))
    const after = encodeCredit(await run(funds))
    const { id: appId, accountId } = app
    await record({
      action,
      objectId: `${appId} on chain ${chainId}`,
      accountId,
      appId,
      before,
      after,
    })
    return after
  })
}

export const fundRoutes: readonly Route[] = serve(contracts.fund)({
  'PATCH /apps/{appId}/funds/{chainId}/mode': ({ body, ...request }) =>
    changeFunds(request, 'fund.update', (funds) => funds.setMode(request.app.id, body.mode)),
  'POST /apps/{appId}/funds/{chainId}/credit': ({ body, ...request }) =>
    changeFunds(request, 'fund.credit', (funds) =>
      funds.credit(request.app.id, BigInt(body.wei), body.reference),
    ),
})
