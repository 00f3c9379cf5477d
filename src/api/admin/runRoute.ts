import type { z } from 'zod'
import { plain } from '../../base/bigints.js'
import { issueOf } from '../../base/explainIssue.js'
import { InvalidFieldError, NotFoundError } from '../../base/errors/restErrors.js'
import type { Database } from '../../db/database.js'
import { type App, findApp } from '../../tenants/apps.js'
import { type AuditChange, audited } from '../../tenants/audit.js'
import type { AdminCaller, Route, RouteRequest } from '../../tenants/route.js'

/** A request before it is checked. */
type Asked = {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  /** Read last: a stranger learns nothing from what is wrong with it. */
  body(): Promise<unknown>
}

/** The parts of a handler's request that come from around it. */
type Around = Partial<
  Pick<RouteRequest<'', unknown>, 'visitor' | 'cookie' | 'simulate' | 'logger' | 'connection'>
> & { readonly context: { readonly database: Database } }

/**
 * Runs a route of the administration for a caller who may ask it: the same for a request over HTTP and for a command.
 * Throws NotFoundError, InvalidFieldError, and the errors of the handler.
 * @returns the answer as JSON has it; of a route that answers in lines or events, what its handler gave
 */
export async function runRoute(
  route: Route,
  caller: AdminCaller,
  asked: Asked,
  around: Around,
): Promise<unknown> {
  const { database } = around.context
  const params = check(route.params, asked.params, (path) => new NotFoundError(thingOf(path)))
  const app = await findOwnApp(database, caller, asked.params.appId)
  const raw = route.body && (await asked.body())
  const request = {
    ...around,
    change: <Result>(run: (change: AuditChange) => Promise<Result>) =>
      audited(database, caller.actor, run),
    caller,
    accountId: caller.accountId,
    user: caller.user,
    params,
    app,
    query: check(route.query, asked.query),
    body: route.body && check(route.body, raw),
    raw,
  }
  // The table's types hold: each handler was typed with its contract.
  const result = await (route.run as (request: unknown) => Promise<unknown>)(request)
  if (result === undefined || result === false) throw new NotFoundError(subjectOf(route))
  if (route.format !== 'json') return result
  return route.answer.parse(plain(answerOf(result)))
}

/** A handler's short answers, written out. */
function answerOf(result: unknown): unknown {
  if (result === true) return { done: true }
  return Array.isArray(result) ? { items: result } : result
}

/** The object that a route is about: the last one that its path names, else the account. */
function subjectOf({ path }: Route): string {
  const [, name] = /.*\{(\w+)\}/.exec(path) ?? []
  return name === undefined ? 'Account' : thingOf(name)
}

/** The app of a path: the caller's own, or any for the operator. Throws NotFoundError. */
export async function findOwnApp(
  database: Database,
  { accountId }: AdminCaller,
  appId: string | undefined,
): Promise<App | undefined> {
  if (appId === undefined) return undefined
  const app = await findApp(database, appId)
  if (app === undefined || (accountId !== undefined && app.accountId !== accountId))
    throw new NotFoundError('App')
  return app
}

/** `keyId` → `Key` */
function thingOf(parameter: string): string {
  return parameter.charAt(0).toUpperCase() + parameter.slice(1).replace(/Id$/, '')
}

function check(
  schema: z.ZodType | undefined,
  value: unknown,
  refuse = (path: string, reason: string): Error => new InvalidFieldError(path, reason),
): unknown {
  if (schema === undefined) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, reason } = issueOf(parsed.error, value, schema)
  throw refuse(path || 'The request', reason)
}
