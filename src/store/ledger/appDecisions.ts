import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../database.js'
import { type Page, toPage } from '../page.js'
import type { StoredDecision } from './decisions.js'

/** Each member that is given must hold. */
export type AppDecisionFilter = {
  readonly sponsored?: boolean
  readonly code?: string
  readonly chainId?: number
  readonly sender?: Address
  readonly userOpHash?: Hex
  readonly policyId?: string
  readonly from?: Date
  readonly until?: Date
}

export type DecisionQuery = AppDecisionFilter & {
  readonly limit: number
  /** The last decision of the page before. */
  readonly before: string | undefined
}

/** An app's decisions, newest first. A cursor that names no decision of the app gives none. */
export async function listAppDecisions(
  db: Database,
  appId: string,
  query: DecisionQuery,
): Promise<Page<StoredDecision>> {
  const { limit, before, sponsored, code, chainId, sender, userOpHash, policyId } = query
  const { from, until } = query
  const rows = await db
    .selectFrom('decisions')
    .selectAll()
    .where('app_id', '=', appId)
    .$if(sponsored !== undefined, (q) => q.where('sponsored', '=', sponsored ?? false))
    .$if(code !== undefined, (q) => q.where('code', '=', code ?? ''))
    .$if(chainId !== undefined, (q) => q.where('chain_id', '=', BigInt(chainId ?? 0)))
    .$if(sender !== undefined, (q) => q.where('sender', '=', sender ?? '0x'))
    .$if(userOpHash !== undefined, (q) => q.where('user_op_hash', '=', userOpHash ?? '0x'))
    .$if(policyId !== undefined, (q) => q.where('policy_id', '=', policyId ?? ''))
    .$if(from !== undefined, (q) => q.where('created_at', '>=', from ?? new Date()))
    .$if(until !== undefined, (q) => q.where('created_at', '<', until ?? new Date()))
    .$if(before !== undefined, (q) =>
      q.where(
        sql<boolean>`(created_at, id) < (select created_at, id from decisions
          where id = ${before ?? null}::uuid and app_id = ${appId})`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return toPage(rows, limit, ({ id }) => id)
}
