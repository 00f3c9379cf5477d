import { z } from 'zod'
import type { Contracts } from './contract.js'
import { rpcMethods } from './rpcMethods.js'
import {
  account,
  accountWithToken,
  app,
  appParams,
  done,
  id,
  key,
  keyWithSecret,
  listOf,
  name,
  quotas,
  sponsor,
  time,
} from './schemas.js'

const accountParams = z.object({ accountId: id })

/** Accounts are the operator's business; all else is an account's. */
export const accountContracts = {
  'GET /accounts': {
    command: 'list',
    summary: 'All accounts, also revoked ones',
    who: 'operator',
    answer: listOf(account),
  },
  'POST /accounts': {
    command: 'create',
    summary: 'Make an account; its token is shown this once',
    who: 'operator',
    status: 201,
    body: z.strictObject({ name }),
    answer: accountWithToken,
  },
  'GET /accounts/{accountId}': {
    summary: 'One account',
    who: 'operator',
    params: accountParams,
    answer: account,
  },
  'POST /accounts/{accountId}/token': {
    command: 'token',
    summary: 'A new token, shown this once; the old one ends',
    who: 'operator',
    status: 201,
    params: accountParams,
    answer: accountWithToken,
  },
  'DELETE /accounts/{accountId}': {
    command: 'revoke',
    summary: 'End an account with its apps and keys',
    who: 'operator',
    params: accountParams,
    answer: done,
  },
  'GET /me': { summary: 'Whose token this is', who: 'account', role: 'viewer', answer: account },
} as const satisfies Contracts

export const appContracts = {
  'GET /apps': {
    command: 'list',
    summary: 'The apps of the account, also revoked ones',
    who: 'account',
    role: 'viewer',
    answer: listOf(app),
  },
  'POST /apps': {
    command: 'create',
    summary: 'Make an app',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name }),
    answer: app,
  },
  'GET /apps/{appId}': {
    summary: 'One app',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: app,
  },
  'PATCH /apps/{appId}': {
    command: 'sponsor',
    summary: 'Rename an app, or change whom wallets show as its sponsor (null: nobody)',
    who: 'account',
    role: 'admin',
    params: appParams,
    body: z.strictObject({ name: name.optional(), sponsor: sponsor.nullable().optional() }),
    answer: app,
  },
  'PATCH /apps/{appId}/quotas': {
    command: 'limit',
    summary: 'The requests of all its keys together, over all processes; null: any number',
    who: 'operator',
    params: appParams,
    body: z.strictObject({ quotas }),
    answer: app,
  },
  'DELETE /apps/{appId}': {
    command: 'revoke',
    summary: 'End an app and its keys',
    who: 'account',
    role: 'admin',
    params: appParams,
    answer: done,
  },
} as const satisfies Contracts

const range = z
  .string()
  .refine(
    (text) => z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]).safeParse(text).success,
    'must be an IP address or a CIDR range',
  )
const origin = z
  .string()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://dapp.example',
  )

/** The limits of a key as administration takes them. */
const keyLimits = z.strictObject({
  scopes: z
    .array(z.enum(['bundler', 'paymaster']))
    .min(1)
    .max(2),
  methods: z.array(z.enum(rpcMethods)).min(1).max(50).nullable(),
  allowedOrigins: z.array(origin).min(1).max(50).nullable(),
  allowedIps: z.array(range).min(1).max(50).nullable(),
  expiresAt: time.nullable(),
  quotas,
})

const keyParams = appParams.extend({ keyId: id })

const usage = z.object({ requests: z.int(), refused: z.int() })

const changes = keyLimits.extend({ name }).partial()

export const keyContracts = {
  'GET /apps/{appId}/keys': {
    summary: 'The keys of an app, also revoked ones',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(key),
  },
  'POST /apps/{appId}/keys': {
    command: 'create',
    summary: 'Make a key, shown this once; without limits it may do all from anywhere',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: changes.required({ name: true }),
    answer: keyWithSecret,
  },
  'GET /apps/{appId}/keys/{keyId}': {
    summary: 'One key',
    who: 'account',
    role: 'viewer',
    params: keyParams,
    answer: key,
  },
  'PATCH /apps/{appId}/keys/{keyId}': {
    command: 'limit',
    summary: 'Change name or limits; a limit that is null ends',
    who: 'account',
    role: 'developer',
    params: keyParams,
    body: changes,
    answer: key,
  },
  'GET /apps/{appId}/keys/{keyId}/usage': {
    command: 'usage',
    summary: 'Its requests of the last 30 days, today first; refused are those above a limit',
    who: 'account',
    role: 'viewer',
    params: keyParams,
    answer: listOf(usage.extend({ day: z.iso.date() })).extend({ today: usage }),
  },
  'POST /apps/{appId}/keys/{keyId}/rotate': {
    command: 'rotate',
    summary: 'A new key with the same limits; the old one ends after the overlap',
    who: 'account',
    role: 'developer',
    status: 201,
    params: keyParams,
    body: z.strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(30 * 86_400)
        .default(86_400),
    }),
    answer: keyWithSecret,
  },
  'DELETE /apps/{appId}/keys/{keyId}': {
    command: 'revoke',
    summary: 'End a key within 2 s',
    who: 'account',
    role: 'developer',
    params: keyParams,
    answer: done,
  },
} as const satisfies Contracts
