import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { authToken, done, id, listOf, name, role, time } from '../../schemas.js'

/** Tokens by which scripts act for an account. */
export const authTokenContracts = {
  'GET /auth-tokens': {
    summary: 'The tokens of the account that were not revoked; the first is its authToken',
    who: 'account',
    role: 'admin',
    answer: listOf(authToken),
  },
  'POST /auth-tokens': {
    summary: 'Make a token with a role, shown this once; without expiresAt it is for ever',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name, role, expiresAt: time.nullable().optional() }),
    answer: z.object({ token: authToken, authToken: z.string() }),
  },
  'DELETE /auth-tokens/{tokenId}': {
    summary: 'End a token within 2 s',
    who: 'account',
    role: 'admin',
    params: z.object({ tokenId: id }),
    answer: done,
  },
} as const satisfies Contracts
