import { z } from 'zod'
import { InvalidFieldError } from '../../../errors/restErrors.js'
import { createFunds, type FundState, type Funds } from '../../../paymaster/funds.js'
import { audited } from '../../../store/tenants/audit.js'
import { appParams, name, wei } from '../../adminSchemas.js'
import { type Route, type RouteRequest, route } from '../route.js'

const params = appParams.extend({
  chainId: z.coerce
    .number()
    .int()
    .min(1)
    .max(2 ** 53 - 1),
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

function encode({ mode, credit: { balance, locked, available } }: FundState) {
  return { mode, credit: { balance, locked, available } }
}

type FundRequest = Pick<
  RouteRequest<typeof params, undefined, undefined>,
  'context' | 'caller' | 'app' | 'params'
>

/** Changes the funds of any app on a configured chain. Throws InvalidFieldError, TankError. */
function changeFunds(
  { context, caller, app, params: { chainId } }: FundRequest,
  action: 'fund.update' | 'fund.credit',
  run: (funds: Funds) => Promise<FundState>,
) {
  if (!context.chainIds.has(chainId))
    throw new InvalidFieldError('chainId', `is none of the configured ${[...context.chainIds]}`)
  return audited(context.database, caller.actor, async ({ trx, record }) => {
    const funds = createFunds({ database: trx, chainId })
    const before = encode(await funds.show(app.id))
    const after = encode(await run(funds))
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
export const fundRoutes: readonly Route[] = [
  route({
    method: 'PATCH',
    path: '/apps/{appId}/funds/{chainId}/mode',
    summary: "What pays for an app's operations from the next sponsorship on",
    who: 'operator',
    params,
    body: z.strictObject({ mode: fundState.shape.mode }),
    answer: fundState,
    run: ({ body, ...request }) =>
      changeFunds(request, 'fund.update', (funds) => funds.setMode(request.app.id, body.mode)),
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/funds/{chainId}/credit',
    summary: 'Give an app credit, or take back (negative) what is free; a reference counts once',
    who: 'operator',
    params,
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
