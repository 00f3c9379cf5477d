import type { Logger } from 'pino'
import type { z } from 'zod'
import type { Visitor } from '../../access/checkPassword.js'
import type { SessionUser } from '../../store/people/sessions.js'
import type { Role } from '../../store/schema.js'
import type { App } from '../../store/tenants/apps.js'
import type { Actor } from '../../store/tenants/audit.js'
import type { AdminContext } from '../adminContext.js'

/**
 * The caller that a route needs: the operator; whoever has a role in an account; either of them; a user who is
 * signed in; or nobody in particular.
 */
export type Who = 'operator' | 'account' | 'either' | 'user' | 'anybody'

/** The caller of a row, with the role that it needs where it is about an account. */
export type Needs =
  | { readonly who: 'operator' | 'user' | 'anybody'; readonly role?: never }
  | { readonly who: 'account' | 'either'; readonly role: Role }

export type AdminCaller = {
  /** undefined = the operator, who looks into no account, or a user outside any. */
  readonly accountId: string | undefined
  readonly actor: Actor
  /** undefined = the caller has a token. */
  readonly user: SessionUser | undefined
}

/** The session cookie of an answer. */
export type SessionCookie = {
  set(token: string): void
  clear(): void
}

type Values<Schema extends z.ZodType | undefined> = Schema extends z.ZodType
  ? z.output<Schema>
  : undefined

export type RouteRequest<
  Params extends z.ZodObject | undefined,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
> = {
  readonly context: AdminContext
  readonly caller: AdminCaller
  /** The caller's account; of routes for accounts only. */
  readonly accountId: string
  /** The user who is signed in; of routes for users only. */
  readonly user: SessionUser
  readonly visitor: Visitor
  readonly cookie: SessionCookie
  /** The live app that the path names, the caller's own, or any of the operator's; of routes with `{appId}` only. */
  readonly app: App
  readonly params: Values<Params>
  readonly query: Values<Query>
  readonly body: Values<Body>
  /** The body as it was sent. */
  readonly raw: unknown
  /** Runs a simulation for the app unless too many are under way. Throws RateLimitError. */
  simulate<Result>(appId: string, run: () => Promise<Result>): Promise<Result>
  readonly logger: Logger
}

/**
 * One operation of the administration API. The same schemas check requests, shape answers and make
 * the OpenAPI document. `run` gives what is answered, dates and wei as they are inside.
 */
export type Route = Needs & {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below /admin/v1, parameters as `{name}`. A route with `{appId}` sees an account's own apps only. */
  readonly path: string
  readonly summary: string
  readonly status: 200 | 201
  readonly params: z.ZodObject | undefined
  readonly query: z.ZodObject | undefined
  readonly body: z.ZodType | undefined
  /** Of a route that answers in lines: what each line holds. */
  readonly answer: z.ZodType
  /** `lines`: `run` gives an AsyncIterable, which is answered as NDJSON. */
  readonly format: 'json' | 'lines'
  readonly run: (request: never) => Promise<unknown>
}

type Spec<
  Params extends z.ZodObject | undefined,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
> = Needs &
  Pick<Route, 'method' | 'path' | 'summary' | 'answer'> & {
    readonly status?: 201
    readonly format?: 'lines'
    readonly params?: Params
    readonly query?: Query
    readonly body?: Body
    readonly run: (request: RouteRequest<Params, Query, Body>) => Promise<unknown>
  }

/** Types a row of the table: `run` gets what the row's own schemas give. */
export function route<
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(spec: Spec<Params, Query, Body>): Route {
  return {
    status: 200,
    format: 'json',
    ...spec,
    params: spec.params,
    query: spec.query,
    body: spec.body,
  }
}
