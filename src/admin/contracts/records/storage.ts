import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { listOf } from '../../schemas.js'

const table = z.object({
  name: z.string(),
  /** An estimate of the server; null before it has looked. */
  rows: z.string().nullable(),
  bytes: z.string(),
  indexBytes: z.string(),
})

/** The room that records take. */
export const storageContracts = {
  'GET /storage': {
    summary: 'The size of each table of the database, the largest first',
    who: 'operator',
    answer: listOf(table),
  },
} as const satisfies Contracts
