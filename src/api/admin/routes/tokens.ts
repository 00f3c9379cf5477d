import { z } from 'zod'
import type { TokenBook } from '../../../paymaster/tokenBooks.js'
import { address, appParams, listOf, wei } from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

const units = z.string().regex(/^\d{1,78}$/, 'must be smallest units of the token')

const book = z.object({
  chainId: z.int(),
  tank: address,
  token: address,
  collected: units,
  /** Collected and not held any more, of all apps that use the tank. */
  withdrawn: units,
  /** By the tank, of all apps that use it. */
  held: units,
  /** The most that live quotes may still bring in. */
  promised: units,
  payments: z.int(),
  missed: z.int(),
  /** The cost of missed payments to the tank. */
  lost: wei,
})

function encode({ chainId, appId: _, payments, missed, ...rest }: TokenBook) {
  return {
    ...rest,
    chainId: Number(chainId),
    payments: Number(payments),
    missed: Number(missed),
  }
}

/** Tokens are withdrawn by a command, which holds the owner's key for it. */
export const tokenRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps/{appId}/tokens',
    summary: 'What the operations of an app paid in tokens, by chain, token and tank',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(book),
    run: async ({ context, app }) => ({ items: (await context.tokenBooks(app.id)).map(encode) }),
  }),
]
