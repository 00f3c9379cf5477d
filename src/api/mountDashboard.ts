import type { Context } from 'hono'
import type { Role } from '../base/vocabulary.js'
import {
  HttpMethodNotAllowedError,
  InvalidFieldError,
  TakenError,
  UnauthorizedError,
} from '../errors/restErrors.js'
import { openDashboard } from '../policy/manageDashboard.js'
import type { Database } from '../store/database.js'
import { type Actor, audited } from '../store/tenants/audit.js'
import { listDashboards, lockDashboard, setDashboard } from '../store/tenants/dashboard.js'
import { createTenantApp } from '../tenancy/manageApps.js'
import { createKey } from '../tenancy/manageKeys.js'
import type { Webhooks } from '../webhook/manage.js'
import { tokenActor } from './caller.js'
import type { Env, Mount } from './createApp.js'
import { type Members, member } from './dialects/decode/members.js'
import { isKey } from './isKey.js'
import { parseJson } from './parseJson.js'
import { readBody } from './readBody.js'
import { requireRole } from './requireRole.js'
import { authenticateWebhookCaller } from './rest/answerWebhook.js'
import { type RuleOperation, ruleOperations } from './rest/dashboardOperations.js'
import { decodeName } from './rest/decodeRules.js'
import { restError } from './rest/restError.js'
import type { WebhookAnswer } from './rest/webhookOperations.js'
import type { RouteContext } from './routeContext.js'
import type { Services } from './services.js'

/** The parts of the service that its dashboard API works on. */
export type DashboardContext = Pick<Services, 'authenticateKey' | 'authenticateToken'> & {
  readonly database: Database
  /** By id, the chains that are served. */
  readonly chainIds: ReadonlySet<number>
  webhooks(actor: Actor, database: Database): Webhooks
}

const ROOT = '/api/v2/public/sdk'

type Answer = (c: Context<Env>) => Promise<WebhookAnswer>

/** The REST API by which scripts of the original service make apps and their rules. */
export function mountDashboard(context: DashboardContext): Mount {
  return (app, shared) => {
    const serve = (path: string, operations: Readonly<Record<string, Answer>>) => {
      app.all(`${ROOT}/${path}`, async (c) => {
        const name = path.replace('/:policyId', '')
        try {
          shared.gate.enter(c.get('caller').ip)
          const operation = operations[c.req.method]
          if (operation === undefined) throw new HttpMethodNotAllowedError(Object.keys(operations))
          const answer = await operation(c)
          shared.metrics.request(name, 200)
          return c.json({ statusCode: 200, ...answer })
        } catch (thrown) {
          const response = restError(c, thrown, shared)
          shared.metrics.request(name, response.status)
          return response
        }
      })
    }
    serve('paymaster', {
      POST: (c) => createPaymaster(c, context, shared),
      GET: (c) => listPaymasters(c, context, shared),
    })
    for (const [path, operations] of Object.entries(ruleOperations)) {
      const answers = Object.entries(operations).map(([method, run]): [string, Answer] => [
        method,
        (c) => answerRule(c, run, context, shared),
      ])
      serve(path, Object.fromEntries(answers))
    }
  }
}

async function answerRule(
  c: Context<Env>,
  run: RuleOperation,
  context: DashboardContext,
  shared: RouteContext,
): Promise<WebhookAnswer> {
  const caller = c.get('caller')
  const authToken = c.req.header('authToken')
  const apiKey = c.req.header('apiKey')
  if (!authToken || !apiKey)
    throw new UnauthorizedError('Auth token and API key is required in the headers')
  const credentials = { authToken, apiKey, caller }
  const owner = await authenticateWebhookCaller(credentials, roleFor(c), context, shared.gate)
  const { accountId, appId, actor } = owner
  const body = await bodyOf(c, shared)
  return audited(context.database, actor, async (change) => {
    const webhooks = context.webhooks(actor, change.trx)
    return run({
      accountId,
      appId,
      body,
      rules: await openDashboard(change, owner),
      webhooks: {
        async create(webhookUrl) {
          const given = { webhookUrl, requestType: 'POST', payload: 'extended' } as const
          return (await webhooks.create(appId, given)).webhookId
        },
        async update(webhookId, active) {
          await webhooks.update(appId, webhookId, active)
        },
      },
      policyId: c.req.param('policyId') ?? '',
    })
  })
}

async function createPaymaster(
  c: Context<Env>,
  context: DashboardContext,
  shared: RouteContext,
): Promise<WebhookAnswer> {
  const { accountId, actor } = await accountOf(c, context, shared)
  const body = await bodyOf(c, shared)
  const name = decodeName(body)
  const chainId = member(body, 'chainId')
  if (typeof chainId !== 'number' || !context.chainIds.has(chainId))
    throw new InvalidFieldError('Chain ID', 'not supported')
  const apiKey = await audited(context.database, actor, async (change) => {
    const known = await listDashboards(change.trx, accountId)
    if (known.some((each) => each.name === name && each.chainId === chainId))
      throw new TakenError('paymaster_name_exists')
    const made = await createTenantApp(change, accountId, name)
    const key = made && (await createKey(change, made.id, { name: 'dashboard' }))
    if (made === undefined || key === undefined)
      throw new UnauthorizedError('The account of the auth token has ended')
    await lockDashboard(change.trx, made.id)
    await setDashboard(change.trx, made.id, { chain_id: BigInt(chainId) })
    return key.apiKey
  })
  return { message: 'DApp registered successfully', data: { name, chainId, apiKey } }
}

/** Keys are stored as hashes, so a list cannot show them. */
async function listPaymasters(
  c: Context<Env>,
  context: DashboardContext,
  shared: RouteContext,
): Promise<WebhookAnswer> {
  const { accountId } = await accountOf(c, context, shared)
  const apps = await listDashboards(context.database, accountId)
  return {
    message: 'DApp list fetched',
    data: apps.map(({ name, chainId }) => ({ name, chainId, apiKey: null })),
  }
}

/** Apps and their rules decide what is paid for. */
function roleFor(c: Context<Env>): Role {
  return c.req.method === 'GET' ? 'viewer' : 'admin'
}

async function accountOf(c: Context<Env>, context: DashboardContext, { gate }: RouteContext) {
  const token = c.req.header('authToken')
  if (!token) throw new UnauthorizedError('Auth token is required in the headers')
  const caller = c.get('caller')
  gate.tryCredential(caller.ip, token)
  const account = isKey(token) ? await context.authenticateToken(token) : undefined
  if (account === undefined) {
    gate.credentialWasWrong(caller.ip)
    throw new UnauthorizedError('Unknown auth token')
  }
  gate.credentialWasRight(token)
  requireRole(account.role, roleFor(c))
  return { accountId: account.accountId, actor: tokenActor(account, token, caller) }
}

async function bodyOf(c: Context<Env>, { limits }: RouteContext): Promise<Members> {
  const bytes = await readBody(c.env.incoming, limits.bodyBytes)
  const body = bytes.length === 0 ? {} : parseJson(bytes, limits.jsonDepth)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new InvalidFieldError('The body', 'must be a JSON object')
  return body as Members
}
