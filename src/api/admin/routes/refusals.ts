import type { Address } from 'viem'
import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import { explain, explainError } from '../../../explain/explain.js'
import { findRefusal, listRefusals, type StoredRefusal } from '../../../store/records/refusals.js'
import { isUuid } from '../../../store/uuid.js'
import { type Route, serve } from '../route.js'

function encode(stored: StoredRefusal) {
  return {
    refusalId: stored.id,
    at: stored.at,
    appId: stored.app_id,
    keyId: stored.key_id,
    chainId: Number(stored.chain_id),
    method: stored.method,
    entryPoint: stored.entry_point,
    sender: stored.sender,
    nonce: stored.nonce === null ? null : String(stored.nonce),
    code: stored.code,
    rule: stored.rule,
    message: stored.message,
    requestId: stored.request_id,
  }
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

export const refusalRoutes: readonly Route[] = serve(contracts.refusal)({
  async 'GET /refusals'({
    context,
    caller,
    query: { limit, before, sender, from, until, ...same },
  }) {
    const filter = defined({
      ...same,
      accountId: caller.accountId,
      sender: sender?.toLowerCase() as Address | undefined,
      from: from === undefined ? undefined : new Date(from),
      until: until === undefined ? undefined : new Date(until),
    })
    if (before !== undefined && !isUuid(before))
      throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
    const { items, next } = await listRefusals(context.database, filter, { limit, before })
    return { items: items.map(encode), next }
  },
  async 'GET /refusals/{refusalId}'({ context, caller, params }) {
    const stored = await findRefusal(context.database, params.refusalId, caller.accountId)
    if (stored === undefined) throw new NotFoundError('Refusal')
    return {
      ...encode(stored),
      data: parsed(stored.data),
      request: parsed(stored.request),
      explanation: explainError(stored) ?? null,
    }
  },
  async 'GET /explain'({ query: { code } }) {
    const known = explain(code)
    if (known === undefined) throw new NotFoundError('Code')
    return known
  },
})
