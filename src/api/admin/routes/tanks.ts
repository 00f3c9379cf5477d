import type { Address } from 'viem'
import { z } from 'zod'
import { ChainNotStartedError } from '../../../base/errors/requestErrors.js'
import { ConflictError, InvalidFieldError, NotFoundError } from '../../../base/errors/restErrors.js'
import { camelCased } from '../../../db/camelCased.js'
import { zeroAddress } from '../../../erc4337/encoding/constants.js'
import { alertOf, createFunds, type FundState, type Funds } from '../../../paymaster/funds.js'
import { alertSince } from '../../../paymaster/ledger/alerts.js'
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
import type { RouteRequest } from '../../../tenants/route.js'
import { address, id, listOf, name, time, wei } from '../../../tenants/schemas.js'
import type { AdminContext } from '../../adminContext.js'
import { route } from '../../adminContext.js'
import { servedChain } from './chains.js'

const tank = z.object({
  id,
  appId: id,
  chainId: z.int(),
  entryPoint: address,
  /** gas: gives it; token: takes tokens for it. */
  kind: z.enum(['gas', 'token']),
  address,
  owner: address,
  /** wei in the EntryPoint at a head of the last seconds; null = this Purser does not serve the chain. */
  deposit: wei.nullable(),
  /** wei of the deposit that are reserved for sponsorships. */
  locked: wei.nullable(),
  /** The pace of the last week: wei that a day costs, and days that the rest lasts; days null = for ever. */
  runway: z.object({ daily: wei, days: z.number().nullable() }).nullable(),
  /** The bounds below which the app is warned, wei and days; 0 = none. */
  alert: z.object({ wei, days: z.int() }),
  /** Since when less is available than the alert says. */
  lowSince: time.nullable(),
  createdAt: time,
})

const fund = z.object({
  chainId: z.int(),
  mode: z.enum(['tank', 'shared', 'native']),
  /** wei, ever */
  credited: wei,
  alertWei: wei,
  alertDays: z.int(),
})

/** What an app pays with on a chain. Amounts in wei. */
const fundState = z.object({
  mode: z.enum(['tank', 'shared', 'native']),
  credit: z.object({
    /** Credited and not spent; `locked` of it is reserved. */
    balance: wei,
    locked: wei,
    available: wei,
  }),
})

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
    alert: alertOf(await findFund(context.database, appId, chainId)),
    lowSince: (await alertSince(context.database, stored.id)) ?? null,
    createdAt: stored.created_at,
  }
}

function addressOf(text: string): Address {
  return text.toLowerCase() as Address
}

function encodeFund(stored: StoredFund) {
  const { chainId, mode, credited, alertWei, alertDays } = camelCased(stored)
  return { chainId, mode, credited, alertWei, alertDays }
}

/** Tanks are deployed, funded and withdrawn from by the holder of a key: a wallet, or a command. */
export const tankRoutes = [
  route('GET /tanks', {
    summary: 'The tanks of all apps of the account, with what they hold and how long it lasts',
    role: 'viewer',
    answer: listOf(tank),
    async run({ context, accountId }) {
      const stored = await listTanksOfAccount(context.database, accountId)
      const ofApps = stored.flatMap((each) =>
        each.app_id === null ? [] : [encodeTank(each, each.app_id, context)],
      )
      return Promise.all(ofApps)
    },
  }),
  route('GET /apps/{appId}/tanks', {
    summary: 'The tanks of an app with their deposits',
    role: 'viewer',
    answer: listOf(tank),
    async run({ context, app }) {
      const stored = await listTanksOfApp(context.database, app.id)
      return Promise.all(stored.map((each) => encodeTank(each, app.id, context)))
    },
  }),
  route('GET /apps/{appId}/tanks/{tankId}', {
    summary: 'One tank',
    role: 'viewer',
    answer: tank,
    async run({ context, app, params: { tankId } }) {
      const stored = await findTankById(context.database, app.id, tankId)
      return stored && encodeTank(stored, app.id, context)
    },
  }),
  route('POST /apps/{appId}/tanks', {
    summary: 'Create a gas tank; its address can be funded, and it sponsors once it is deployed',
    role: 'admin',
    body: z.strictObject({
      chainId: z.int().min(1),
      entryPoint: address,
      /** Who alone can withdraw; it cannot be changed. */
      owner: address,
    }),
    answer: tank,
    status: 201,
    async run({ context, change, app, body }) {
      const { chainId } = body
      const { entryPoints } = servedChain(context, chainId)
      const entryPoint = entryPoints.get(addressOf(body.entryPoint))
      if (entryPoint === undefined)
        throw new InvalidFieldError(
          'entryPoint',
          `is none of ${[...entryPoints.keys()].join(', ')}`,
        )
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
  }),
  route('GET /apps/{appId}/tanks/{tankId}/deployment', {
    summary: 'The transactions that deploy a tank, for any wallet; none = it is deployed',
    role: 'viewer',
    answer: listOf(
      z.object({
        puts: z.enum(['factory', 'code', 'tank']),
        to: address,
        data: z.string().regex(/^0x[0-9a-f]*$/),
      }),
    ),
    async run({ context, app, params: { tankId } }) {
      const stored = await findTankById(context.database, app.id, tankId)
      if (stored === undefined) return undefined
      const steps = await context.stepsOf(stored)
      if (steps === undefined) throw new ChainNotStartedError(Number(stored.chain_id))
      return [...steps]
    },
  }),
  route('GET /apps/{appId}/funds', {
    summary: 'How the app pays on each chain, where it is set',
    role: 'viewer',
    answer: listOf(fund),
    run: async ({ context, app }) =>
      (await listFundsOfApp(context.database, app.id)).map(encodeFund),
  }),
  route('PATCH /apps/{appId}/funds/{chainId}', {
    summary: 'The level, in wei or in days of average use, below which tank.low is sent; 0 = never',
    role: 'admin',
    body: z.strictObject({ alertWei: wei, alertDays: z.int().min(0).max(3_650) }).partial(),
    answer: fund,
    run: ({ change, app, params: { chainId }, body }) =>
      change(async ({ trx, record }) => {
        const before = await findFund(trx, app.id, chainId)
        const after = await putFund(trx, app.id, chainId, {
          ...(body.alertWei !== undefined && { alertWei: BigInt(body.alertWei) }),
          ...(body.alertDays !== undefined && { alertDays: body.alertDays }),
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

function encodeCredit({ mode, credit: { balance, locked, available } }: FundState) {
  return { mode, credit: { balance, locked, available } }
}

type FundRequest = Pick<
  RouteRequest<AdminContext, '/{appId}/{chainId}'>,
  'context' | 'change' | 'app' | 'params'
>

/** Changes the funds of any app on a configured chain. Throws InvalidFieldError, TankError. */
function changeFunds(
  { context, change, app, params: { chainId } }: FundRequest,
  action: 'fund.update' | 'fund.credit',
  run: (funds: Funds) => Promise<FundState>,
) {
  const chainIds = context.chainIds()
  if (!chainIds.has(chainId))
    throw new InvalidFieldError('chainId', `is none of the configured ${[...chainIds]}`)
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

/** Credit is the operator's money, and the mode says whose money is spent: both are the operator's to set. */
export const fundRoutes = [
  route('PATCH /apps/{appId}/funds/{chainId}/mode', {
    summary: "Set what pays for an app's operations from the next sponsorship on",
    who: 'operator',
    body: z.strictObject({ mode: fundState.shape.mode }),
    answer: fundState,
    run: ({ body, ...request }) =>
      changeFunds(request, 'fund.update', (funds) => funds.setMode(request.app.id, body.mode)),
  }),
  route('POST /apps/{appId}/funds/{chainId}/credit', {
    summary: 'Add credit to an app, or remove unused credit (negative); a reference counts once',
    who: 'operator',
    body: z.strictObject({
      wei: z
        .string()
        .regex(/^-?[1-9]\d{0,29}$/, 'must be wei as a decimal number, negative to take'),
      reference: name,
    }),
    answer: fundState,
    run: ({ body, ...request }) =>
      changeFunds(request, 'fund.credit', (funds) =>
        funds.credit(request.app.id, BigInt(body.wei), body.reference),
      ),
  }),
]
