import { defined } from '../../../base/defined.js'
import { explain, explainError } from '../../../base/errors/explain.js'
import { InvalidFieldError, NotFoundError } from '../../../base/errors/restErrors.js'
import { isUuid } from '../../../db/uuid.js'
import { findRefusal, listRefusals, type StoredRefusal } from '../../../records/refusals.js'
import { contracts } from '../../contracts/contracts.js'
import { camelCased } from '../camelCased.js'
import { type Route, serve } from '../route.js'
import { dateOf, lower } from './overview.js'

function encodeRefusal(stored: StoredRefusal) {
  return { ...camelCased(stored), refusalId: stored.id }
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
      sender: lower(sender),
      from: dateOf(from),
      until: dateOf(until),
    })
    if (before !== undefined && !isUuid(before))
      throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
    const { items, next } = await listRefusals(context.database, filter, { limit, before })
    return { items: items.map(encodeRefusal), next }
  },
  async 'GET /refusals/{refusalId}'({ context, caller, params }) {
    const stored = await findRefusal(context.database, params.refusalId, caller.accountId)
    if (stored === undefined) return undefined
    return {
      ...encodeRefusal(stored),
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
