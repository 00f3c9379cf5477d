import { contracts } from '../../../../admin/contracts.js'
import { search } from '../../../../store/records/search.js'
import { type Route, serve } from '../../route.js'

export const searchRoutes: readonly Route[] = serve(contracts.search)({
  async 'GET /search'({ context, caller, query: { q } }) {
    const { database, chains } = context
    const hits = await search(database, caller.accountId, [...chains.keys()], q)
    return {
      items: hits.map((each) => ({
        ...each,
        chainId: each.chainId === null ? null : Number(each.chainId),
      })),
    }
  },
})
