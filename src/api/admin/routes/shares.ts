import { z } from 'zod'
import { findOperationOwner } from '../../../records/operationRecord.js'
import { deleteRow } from '../../../tenants/resource.js'
import { route } from '../../../tenants/route.js'
import { done, listOf } from '../../../tenants/schemas.js'
import { createShare, listShares, ofAccount, share, shares } from '../../../tenants/shares.js'

/** Days for which a link works. */
const MOST_DAYS = 30
const USUAL_DAYS = 7

export const sharingRoutes = [
  route('POST /operations/{chainId}/{userOpHash}/shares', {
    command: 'share',
    summary: 'Make a link that shows this operation without an account; its token is shown once',
    who: 'either',
    role: 'admin',
    status: 201,
    body: z.strictObject({ days: z.int().min(1).max(MOST_DAYS).default(USUAL_DAYS) }),
    answer: z.object({
      share,
      /** Behind the # of `/console/shared/{chainId}/{userOpHash}`. */
      token: z.string(),
    }),
    async run({ context, change, caller, params: { chainId, userOpHash }, body: { days } }) {
      const owner = await findOperationOwner(context.database, chainId, userOpHash)
      const isStranger = caller.accountId !== undefined && owner?.accountId !== caller.accountId
      if (owner === undefined || isStranger) return undefined
      return change((audit) => createShare(audit, { ...owner, chainId, userOpHash }, days))
    },
  }),
]

export const shareRoutes = [
  route('GET /shares', {
    command: 'list',
    summary: 'The links to operations that still work, newest first; tokens are not stored',
    who: 'either',
    role: 'viewer',
    answer: listOf(share),
    run: ({ context, accountId }) => listShares(context.database, accountId),
  }),
  route('DELETE /shares/{shareId}', {
    command: 'revoke',
    summary: 'Withdraw a link to an operation, at once',
    who: 'either',
    role: 'admin',
    answer: done,
    run: ({ change, accountId, params }) =>
      change((audit) => deleteRow(audit, shares, { id: params.shareId, ...ofAccount(accountId) })),
  }),
]
