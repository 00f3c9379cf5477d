import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError } from '../../../base/errors/restErrors.js'
import {
  createAccount,
  endAccount,
  findAccount,
  listAccounts,
  rotateToken,
} from '../../../tenants/accounts.js'
import { changeApp, createTenantApp, endApp, listApps } from '../../../tenants/apps.js'
import {
  changeKey,
  createKey,
  endKey,
  findKey,
  type KeyRestrictions,
  listKeys,
  rotateKey,
} from '../../../tenants/keys.js'
import {
  account,
  accountWithToken,
  app,
  done,
  key,
  keyWithSecret,
  listOf,
  name,
  quotas,
  sponsor,
  time,
} from '../../../tenants/schemas.js'
import { usageOf } from '../../../tenants/usage.js'
import { route } from '../../adminContext.js'
import { methodNames } from '../../methods/methodList.js'

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
  methods: z.array(z.enum(methodNames)).min(1).max(50).nullable(),
  allowedOrigins: z.array(origin).min(1).max(50).nullable(),
  allowedIps: z.array(range).min(1).max(50).nullable(),
  expiresAt: time.nullable(),
  quotas,
})

const usage = z.object({ requests: z.int(), refused: z.int() })

const changes = keyLimits.extend({ name }).partial()

/** Accounts are the operator's business; all else is an account's. */
export const accountRoutes = [
  route('GET /accounts', {
    command: 'list',
    summary: 'All accounts, also revoked ones',
    who: 'operator',
    answer: listOf(account),
    run: ({ context }) => listAccounts(context.database),
  }),
  route('POST /accounts', {
    command: 'create',
    summary: 'Create an account; its token is shown once',
    who: 'operator',
    status: 201,
    body: z.strictObject({ name }),
    answer: accountWithToken,
    run: ({ change, body }) => change((audit) => createAccount(audit, body.name)),
  }),
  route('GET /accounts/{accountId}', {
    summary: 'One account',
    who: 'operator',
    answer: account,
    run: ({ context, params }) => findAccount(context.database, params.accountId),
  }),
  route('POST /accounts/{accountId}/token', {
    command: 'token',
    summary: 'Replace the token, shown once; the old one ends',
    who: 'operator',
    status: 201,
    answer: accountWithToken,
    run: ({ change, params }) => change((audit) => rotateToken(audit, params.accountId)),
  }),
  route('DELETE /accounts/{accountId}', {
    command: 'revoke',
    summary: 'Revoke an account with its apps and keys',
    who: 'operator',
    answer: done,
    run: ({ change, params }) => change((audit) => endAccount(audit, params.accountId)),
  }),
  route('GET /me', {
    summary: 'Whose token this is',
    role: 'viewer',
    answer: account,
    run: ({ context, accountId }) => findAccount(context.database, accountId),
  }),
]

export const appRoutes = [
  route('GET /apps', {
    command: 'list',
    summary: 'The apps of the account, or of all, also revoked ones',
    who: 'either',
    role: 'viewer',
    answer: listOf(app),
    run: ({ context, accountId }) => listApps(context.database, accountId),
  }),
  route('POST /apps', {
    command: 'create',
    summary: 'Create an app',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name }),
    answer: app,
    run: ({ change, accountId, body }) =>
      change((audit) => createTenantApp(audit, accountId, body.name)),
  }),
  route('GET /apps/{appId}', {
    summary: 'One app',
    role: 'viewer',
    answer: app,
    run: ({ app }) => app,
  }),
  route('PATCH /apps/{appId}', {
    command: 'sponsor',
    summary: 'Rename an app, or change the sponsor that wallets show (null: none)',
    role: 'admin',
    body: z.strictObject({ name: name.optional(), sponsor: sponsor.nullable().optional() }),
    answer: app,
    run: ({ change, app, body }) => change((audit) => changeApp(audit, app.id, body)),
  }),
  route('PATCH /apps/{appId}/quotas', {
    command: 'limit',
    summary: 'The requests of all its keys together, over all processes; null: any number',
    who: 'operator',
    body: z.strictObject({ quotas }),
    answer: app,
    run: ({ change, app, body }) => change((audit) => changeApp(audit, app.id, body)),
  }),
  route('DELETE /apps/{appId}', {
    command: 'revoke',
    summary: 'Revoke an app and its keys',
    role: 'admin',
    answer: done,
    async run({ change, app }) {
      await change((audit) => endApp(audit, app.id))
      return true
    },
  }),
]

/** Times of requests are text. What is absent stays absent. */
function toLimits({ expiresAt, ...rest }: z.output<typeof changes>): Changes {
  return {
    ...defined(rest),
    ...(expiresAt !== undefined && { expiresAt: futureOf(expiresAt) }),
  }
}

type Changes = Partial<KeyRestrictions & { readonly name: string }>

/** The time at which a credential ends; null = never. Throws InvalidFieldError. */
export function futureOf(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null
  const date = new Date(text)
  if (date.getTime() <= Date.now())
    throw new InvalidFieldError('expiresAt', 'must be in the future')
  return date
}

export const keyRoutes = [
  route('GET /apps/{appId}/keys', {
    summary: 'The keys of an app, also revoked ones',
    role: 'viewer',
    answer: listOf(key),
    run: ({ context, app }) => listKeys(context.database, app.id),
  }),
  route('POST /apps/{appId}/keys', {
    command: 'create',
    summary: 'Create a key, shown once; without limits it may call everything from anywhere',
    role: 'developer',
    status: 201,
    body: changes.required({ name: true }),
    answer: keyWithSecret,
    run: ({ change, app, body }) => {
      const settings = { ...toLimits(body), name: body.name }
      return change((audit) => createKey(audit, app.id, settings))
    },
  }),
  route('GET /apps/{appId}/keys/{keyId}', {
    summary: 'One key',
    role: 'viewer',
    answer: key,
    run: ({ context, app, params }) => findKey(context.database, app.id, params.keyId),
  }),
  route('PATCH /apps/{appId}/keys/{keyId}', {
    command: 'limit',
    summary: 'Change name or limits; null removes a limit',
    role: 'developer',
    body: changes,
    answer: key,
    run: ({ change, app, params, body }) => {
      const limits = toLimits(body)
      return change((audit) => changeKey(audit, app.id, params.keyId, limits))
    },
  }),
  route('GET /apps/{appId}/keys/{keyId}/usage', {
    command: 'usage',
    summary: 'Its requests of the last 30 days, newest first; refused are those above a limit',
    role: 'viewer',
    answer: listOf(usage.extend({ day: z.iso.date() })).extend({ today: usage }),
    async run({ context, app, params: { keyId } }) {
      const key = await findKey(context.database, app.id, keyId)
      return key && usageOf(context.database, keyId)
    },
  }),
  route('POST /apps/{appId}/keys/{keyId}/rotate', {
    command: 'rotate',
    summary: 'A new key with the same limits; the old one ends after the overlap',
    role: 'developer',
    status: 201,
    body: z.strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(30 * 86_400)
        .default(86_400),
    }),
    answer: keyWithSecret,
    run: ({ change, app, params, body }) =>
      change((audit) => rotateKey(audit, app.id, params.keyId, body.overlapSeconds)),
  }),
  route('DELETE /apps/{appId}/keys/{keyId}', {
    command: 'revoke',
    summary: 'End a key within 2 s',
    role: 'developer',
    answer: done,
    run: ({ change, app, params }) => change((audit) => endKey(audit, app.id, params.keyId)),
  }),
]
