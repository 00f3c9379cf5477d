import { sql } from 'kysely'
import type { Hex } from 'viem'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import type { AuditChange } from './audit.js'
import { generateShareToken, hashCredential } from './credential.js'
import { insertRow, listRows, resource } from './resource.js'
import { hash, id, type Row, time } from './schemas.js'

/** A link as it is shown: its token is not stored. */
export const share = z.object({
  id,
  appId: id,
  chainId: z.int(),
  userOpHash: hash,
  createdAt: time,
  expiresAt: time,
})

/** Links that show one operation, and nothing else, to readers without an account. */
export const shares = resource({
  name: 'share',
  table: 'shares',
  shown: share.extend({ accountId: id }),
  columns: { chainId: ({ chain_id }) => Number(chain_id) },
  order: sql`created_at desc, id`,
  limit: { of: 'account', most: 100, noun: 'open links', counted: sql`expires_at > now()` },
})

type OpenShare = {
  readonly id: string
  readonly accountId: string
  readonly chainId: number
  readonly userOpHash: Hex
}

/** The link with this hash of its token, until its end, of a live app. */
export async function findShare(db: Database, tokenHash: Buffer): Promise<OpenShare | undefined> {
  const { rows } = await sql<Omit<OpenShare, 'chainId'> & { readonly chainId: bigint }>`
    select s.id, s.account_id as "accountId", s.chain_id as "chainId", s.user_op_hash as "userOpHash"
    from shares s join apps on apps.id = s.app_id join accounts a on a.id = s.account_id
    where s.token_hash = ${tokenHash} and s.expires_at > now()
      and apps.revoked_at is null and a.revoked_at is null`.execute(db)
  const [row] = rows
  return row && { ...row, chainId: Number(row.chainId) }
}

/** Makes a link that works for some days; its token is stored nowhere. undefined = there is no such live account. Throws TenantLimitError. */
export async function createShare(
  change: AuditChange,
  { accountId, appId, chainId, userOpHash }: Omit<OpenShare, 'id'> & { readonly appId: string },
  days: number,
): Promise<{ readonly share: Row<typeof shares.shown>; readonly token: string } | undefined> {
  const token = generateShareToken()
  const made = await insertRow(change, shares, {
    account_id: accountId,
    app_id: appId,
    chain_id: BigInt(chainId),
    user_op_hash: userOpHash,
    token_hash: hashCredential(token),
    expires_at: sql`now() + make_interval(days => ${days})`,
  })
  return made && { share: made, token }
}

/** The rows of an account; undefined = of all. */
export function ofAccount(accountId: string | undefined): { readonly account_id?: string } {
  return accountId === undefined ? {} : { account_id: accountId }
}

/** The links that work, newest first, of an account or of all. */
export function listShares(db: Database, accountId: string | undefined) {
  return listRows(db, shares, { ...ofAccount(accountId), expires_at: sql`> now()` })
}
