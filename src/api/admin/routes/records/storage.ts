import { z } from 'zod'
import { tableSizes } from '../../../../store/records/tableSizes.js'
import { listOf } from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

const table = z.object({
  name: z.string(),
  /** An estimate of the server; null before it has looked. */
  rows: z.string().nullable(),
  bytes: z.string(),
  indexBytes: z.string(),
})

/** The room that records take. */
export const storageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/storage',
    summary: 'The size of each table of the database, the largest first',
    who: 'operator',
    answer: listOf(table),
    async run({ context }) {
      const sizes = await tableSizes(context.database)
      return { items: sizes.map(({ rows = null, ...size }) => ({ ...size, rows })) }
    },
  }),
]
