import { z } from 'zod'
import { search } from '../../../../store/records/search.js'
import { listOf } from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

const hit = z.object({
  kind: z.string(),
  id: z.string(),
  appId: z.string().nullable(),
  chainId: z.int().nullable(),
})

export const searchRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/search',
    summary: 'What a hash, an address or an id names, of the account',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({
      q: z
        .string()
        .regex(
          /^(0x[0-9a-fA-F]{64}|0x[0-9a-fA-F]{40}|[0-9a-fA-F-]{36})$/,
          'must be a hash, an address or an id',
        ),
    }),
    answer: listOf(hit),
    async run({ context, caller, query: { q } }) {
      const { database, chains } = context
      const hits = await search(database, caller.accountId, [...chains.keys()], q)
      return {
        items: hits.map((each) => ({
          ...each,
          chainId: each.chainId === null ? null : Number(each.chainId),
        })),
      }
    },
  }),
]
