import { sql } from 'kysely'
import { z } from 'zod'
import { findOperationOwner } from '../../../records/operations.js'
import { generateShareToken, hashCredential } from '../../../tenants/credential.js'
import { deleteRow, insertRow, listRows } from '../../../tenants/resource.js'
import { route } from '../../../tenants/route.js'
import { done, listOf } from '../../../tenants/schemas.js'
import { share, shares } from '../../../tenants/shares.js'

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
      const token = generateShareToken()
      const made = await change((audit) =>
        insertRow(audit, shares, {
          account_id: owner.accountId,
          app_id: owner.appId,
          chain_id: BigInt(chainId),
          user_op_hash: userOpHash,
          token_hash: hashCredential(token),
          expires_at: sql`now() + make_interval(days => ${days})`,
        }),
      )
      return made && { share: made, token }
    },
  }),
]

function ofCaller(accountId: string | undefined) {
  return accountId === undefined ? {} : { account_id: accountId }
}

export const shareRoutes = [
  route('GET /shares', {
    command: 'list',
    summary: 'The links to operations that still work, newest first; tokens are not stored',
    who: 'either',
    role: 'viewer',
    answer: listOf(share),
    run: ({ context, accountId }) =>
      listRows(context.database, shares, { ...ofCaller(accountId), expires_at: sql`> now()` }),
  }),
  route('DELETE /shares/{shareId}', {
    command: 'revoke',
    summary: 'Withdraw a link to an operation, at once',
    who: 'either',
    role: 'admin',
    answer: done,
    run: ({ change, accountId, params }) =>
      change((audit) => deleteRow(audit, shares, { id: params.shareId, ...ofCaller(accountId) })),
  }),
]
