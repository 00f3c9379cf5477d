import { z } from 'zod'
import { ChainNotStartedError } from '../../../base/errors/requestErrors.js'
import { ConflictError, InvalidFieldError, NotFoundError } from '../../../base/errors/restErrors.js'
import { camelCased } from '../../../db/camelCased.js'
import { zeroAddress } from '../../../erc4337/encoding/constants.js'
import { alertOf } from '../../../paymaster/funds.js'
import { alertSince } from '../../../paymaster/ledger/alerts.js'
import { findFund } from '../../../paymaster/ledger/funds.js'
import {
  findTank,
  findTankById,
  listTanksOfAccount,
  listTanksOfApp,
  type StoredTank,
} from '../../../paymaster/ledger/tanks.js'
import { address, id, listOf, lowerAddress, time, wei } from '../../../tenants/schemas.js'
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

async function encodeTank(stored: StoredTank, appId: string, context: AdminContext) {
  const { signer_key: _, ...facts } = stored
  const level = await context.levelOf(stored)
  return {
    ...camelCased(facts),
    appId,
    deposit: level?.deposit ?? null,
    locked: level?.locked ?? null,
    runway: level ? { daily: level.runway.daily, days: level.runway.days ?? null } : null,
    alert: alertOf(await findFund(context.database, appId, Number(stored.chain_id))),
    lowSince: (await alertSince(context.database, stored.id)) ?? null,
  }
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
      entryPoint: lowerAddress,
      /** Who alone can withdraw; it cannot be changed. */
      owner: lowerAddress,
    }),
    answer: tank,
    status: 201,
    async run({ context, change, app, body }) {
      const { chainId, owner } = body
      const { entryPoints } = servedChain(context, chainId)
      const entryPoint = entryPoints.get(body.entryPoint)
      if (entryPoint === undefined)
        throw new InvalidFieldError(
          'entryPoint',
          `is none of ${[...entryPoints.keys()].join(', ')}`,
        )
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
]
