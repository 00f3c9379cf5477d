import { contracts } from '../../../admin/contracts.js'
import { InvalidFieldError } from '../../../errors/restErrors.js'
import { createFunds, type FundState, type Funds } from '../../../paymaster/funds.js'
import { audited } from '../../../store/tenants/audit.js'
import { type Route, type RouteRequest, serve } from '../route.js'

function encode({ mode, credit: { balance, locked, available } }: FundState) {
  return { mode, credit: { balance, locked, available } }
}

type FundRequest = Pick<
  RouteRequest<ModeEndpoint, (typeof contracts.fund)[ModeEndpoint]>,
  'context' | 'caller' | 'app' | 'params'
>
type ModeEndpoint = 'PATCH /apps/{appId}/funds/{chainId}/mode'

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

export const fundRoutes: readonly Route[] = serve(contracts.fund)({
  'PATCH /apps/{appId}/funds/{chainId}/mode': ({ body, ...request }) =>
    changeFunds(request, 'fund.update', (funds) => funds.setMode(request.app.id, body.mode)),
  'POST /apps/{appId}/funds/{chainId}/credit': ({ body, ...request }) =>
    changeFunds(request, 'fund.credit', (funds) =>
      funds.credit(request.app.id, BigInt(body.wei), body.reference),
    ),
})
