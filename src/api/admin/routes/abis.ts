import { z } from 'zod'
import { InvalidFieldError } from '../../../base/errors/restErrors.js'
import { findAppAbi, replaceAppAbi } from '../../../records/appAbis.js'
import {
  LONGEST_ABI,
  lineOf,
  MOST_ABI_ITEMS,
  readContractAbi,
} from '../../../records/contractAbi.js'
import { listOf } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

/** `function transfer(address to, uint256 amount)` */
const lines = listOf(z.string())

/** By what calls and errors of an app's operations are named. */
export const abiRoutes = [
  route('GET /apps/{appId}/abi', {
    command: 'abi',
    summary: 'The functions and errors that name the calls of the app in its operations',
    role: 'viewer',
    answer: lines,
    run: async ({ context, app }) => (await findAppAbi(context.database, app.id)).map(lineOf),
  }),
  route('POST /apps/{appId}/abi', {
    command: 'describe',
    summary: `Replace the functions and errors that name the calls of the app, at most ${MOST_ABI_ITEMS}`,
    role: 'developer',
    /** JSON as compilers write it, or one function or error on each line; empty = none. */
    body: z.strictObject({ abi: z.string().max(LONGEST_ABI) }),
    answer: lines,
    async run({ change, app, body }) {
      const items = readContractAbi(body.abi)
      if (typeof items === 'string') throw new InvalidFieldError('abi', items)
      return (await change((audit) => replaceAppAbi(audit, app.id, items))).map(lineOf)
    },
  }),
]
