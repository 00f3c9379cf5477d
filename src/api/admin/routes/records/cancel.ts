import type { Hex } from 'viem'
import { contracts } from '../../../../admin/contracts.js'
import { ConflictError, NotFoundError } from '../../../../errors/restErrors.js'
import { requestCancellation } from '../../../../store/pool/cancellations.js'
import { announceOperations } from '../../../../store/pool/operations.js'
import { findOperationOwner } from '../../../../store/records/operations.js'
import { audited } from '../../../../store/tenants/audit.js'
import { type Route, serve } from '../../route.js'
import { lower } from './period.js'

/** What an answer means, in the words that every client shows. */
const MEANING =
  'Purser has dropped the operation, with those that wait behind it, and does not send it. Its signature stays valid: whoever else has the operation can still include it until the account uses its nonce otherwise.'

function refusalOf(state: string | undefined): string {
  return state === 'bundled'
    ? 'The operation is in a signed bundle, which may be on its way to a block. Only the operator can take a bundle back, by `purser operation cancel`; see its status.'
    : `The operation is ${state} already; nothing was changed.`
}

export const cancelRoutes: readonly Route[] = serve(contracts.cancel)({
  async 'POST /operations/{chainId}/{userOpHash}/cancel'({
    context: { database },
    caller,
    params,
  }) {
    const wanted = lower<Hex>(params.userOpHash) ?? '0x'
    const { chainId: chain } = params
    await audited(database, caller.actor, async ({ trx, record }) => {
      const owner = await findOperationOwner(trx, chain, wanted)
      const isStranger = caller.accountId !== undefined && owner?.accountId !== caller.accountId
      if (owner === undefined || isStranger) throw new NotFoundError('Operation')
      const before = await requestCancellation(trx, chain, wanted, 'owner')
      if (before !== 'pooled') throw new ConflictError(refusalOf(before))
      await record({
        action: 'operation.cancel',
        objectId: wanted,
        ...owner,
        before: { chainId: chain, state: before },
      })
    })
    await announceOperations(database, chain)
    return { state: 'dropped', code: 'CANCELLED', meaning: MEANING }
  },
})
