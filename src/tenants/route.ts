import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { z } from 'zod'
import type { Requester } from '../base/requester.js'
import type { Role } from '../base/vocabulary.js'
import type { Database } from '../db/database.js'
import type { Actor, AuditChange } from './audit.js'
import type { SessionUser, Visitor } from './people/sessions.js'
import { paramsOf } from './schemas.js'

/**
 * The caller that a route needs: the operator; a user with a role in an account; either of them; a user who is
 * signed in; or nobody in particular.
 */
export type Who = 'operator' | 'account' | 'either' | 'user' | 'anybody'

/** The caller of a route, with the role that it needs where it is about an account. */
export type Needs = {
  /**
   * Whether the link to an operation also reads it. Parameters of its path are compared with the link; what else it
   * reads, it restricts by `share` of the caller.
   */
  readonly isShared?: true
} & (
  | { readonly who: 'operator' | 'user' | 'anybody'; readonly role?: never }
  | { readonly who: 'account' | 'either'; readonly role: Role }
)

type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * Method and path below /admin/v1, with parameters as `{name}`. A route with `{appId}` sees an account's own apps only.
 */
type RouteName = `${HttpMethod} /${string}`

export type AdminCaller = {
  /** undefined = the operator, who looks into no account, or a user outside any. */
  readonly accountId: string | undefined
  readonly actor: Actor
  /** undefined = the caller has a token. */
  readonly user: SessionUser | undefined
  /** The link by which the caller sees one operation and nothing else; absent = none. */
  readonly share?: { readonly id: string; readonly chainId: number }
}

/** The app that a path names. */
type NamedApp = { readonly id: string; readonly accountId: string; readonly name: string }

/** The session cookie of an answer. */
export type SessionCookie = {
  set(token: string): void
  clear(): void
}

/** The parameters of a path by name. */
type Params<Name> = Name extends `${string}{${infer Param}}${infer Rest}`
  ? { readonly [Each in Param]: ParamOf<Each> } & Params<Rest>
  : unknown

type ParamOf<Name> = Name extends 'chainId' ? number : Name extends 'userOpHash' ? Hex : string

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/**
 * A request that fits what its route declares. `Context` holds the parts of the service that the route works on.
 */
export type RouteRequest<Context, Name = '', Caller = Who, Query = undefined, Body = undefined> = {
  readonly context: Context
  readonly caller: AdminCaller
  /** Makes a change of the caller's, with its entries in the audit log. Throws RateLimitError. */
  change<Result>(run: (change: AuditChange) => Promise<Result>): Promise<Result>
  /** The caller's account. */
  readonly accountId: Caller extends 'account' ? string : string | undefined
  /** The user who is signed in. */
  readonly user: Caller extends 'user' ? SessionUser : SessionUser | undefined
  readonly visitor: Visitor
  readonly cookie: SessionCookie
  /** The live app that the path names, the caller's own, or any of the operator's. */
  readonly app: Name extends `${string}{appId}${string}` ? NamedApp : undefined
  readonly params: Params<Name>
  readonly query: Output<Query>
  readonly body: Output<Body>
  /** The body as it was sent. */
  readonly raw: unknown
  /** Runs a simulation for the app unless too many are under way. Throws RateLimitError. */
  readonly simulate: Simulate
  readonly logger: Logger
  readonly connection: RouteConnection
}

/** What runs a simulation for an app, with the party for which it works. */
export type Simulate = <Result>(
  appId: string,
  run: (requester: Requester) => Promise<Result>,
) => Promise<Result>

/** The connection of a request whose answer has no end. */
export type RouteConnection = {
  /** The id of the last event that the client has. */
  readonly lastEventId: string | undefined
  /** Whether the caller may still do what the route needs, with the app of its path. */
  isStillLetIn(): Promise<boolean>
  /** Cuts it, whatever waits to be read. */
  cut(): void
}

/** A route of the administration API in full. */
export type Route<Context = never> = Needs & {
  readonly method: HttpMethod
  readonly path: string
  readonly summary: string
  readonly command?: string
  readonly status: 200 | 201
  readonly params: z.ZodObject | undefined
  readonly query: z.ZodObject | undefined
  readonly body: z.ZodType | undefined
  /** Of a route that answers in lines or events: what each of them holds. */
  readonly answer: z.ZodType
  /** `lines`: `run` gives an AsyncIterable, which is answered as NDJSON. `events`: `run` gives the stream. */
  readonly format: 'json' | 'lines' | 'events'
  readonly run: (request: RouteRequest<Context, never, never, never, never>) => unknown
}

/** A value that becomes `Json` when it is answered: times and wei as they are inside. */
type Inside<Json> = Json extends string
  ? string extends Json
    ? string | Date | bigint
    : Json
  : Json extends readonly (infer Item)[]
    ? readonly Inside<Item>[]
    : Json extends object
      ? { readonly [Name in keyof Json]: Inside<Json[Name]> | Missing<Json, Name> }
      : Json

/** A member that may be absent may be undefined, which JSON leaves out. */
type Missing<Json, Name extends keyof Json> =
  Pick<Json, never> extends Pick<Json, Name> ? undefined : never

type Answered<Answer, Format> = Format extends 'lines'
  ? AsyncIterable<Inside<Answer>>
  : Format extends 'events'
    ? ReadableStream
    : Inside<Answer> | Short<Inside<Answer>>

/** What a handler may give in place of the whole answer. */
type Short<Answer> =
  | undefined
  | (Answer extends { readonly done: true } ? boolean : never)
  | (Answer extends { readonly items: infer Items } ? Items : never)

/**
 * All that a route declares but its name. In JSON, wei and other large numbers are decimal text, and times are ISO 8601.
 */
type Terms<Context, Name, Caller, Query, Body, Answer, Format> = {
  readonly summary: string
  /** Its command, of the group of its subject: `create` of `purser webhook`. Absent = it has none. */
  readonly command?: string
  /** Absent = account. */
  readonly who?: Caller
  /** Where it is about an account. */
  readonly role?: Role
  readonly isShared?: true
  /** Absent = 200. */
  readonly status?: 201
  /** `lines`: the answer is NDJSON; `events`: server-sent events. `answer` is what each line or event holds. */
  readonly format?: Format
  readonly query?: Query
  readonly body?: Body
  readonly answer: Answer
  /** The answer; undefined or false: there is no such object; true: it is done; a list: its items. */
  readonly run: (
    request: RouteRequest<Context, Name, Caller, Query, Body>,
  ) => Answered<z.input<Answer>, Format> | Promise<Answered<z.input<Answer>, Format>>
}

/**
 * What declares routes that work on `Context`. Checks of roles, parameters and bodies, the OpenAPI document, the client
 * and the command follow from the declaration.
 */
export function routesOn<Context>() {
  return <
    Name extends RouteName,
    Answer extends z.ZodType,
    const Caller extends Who = 'account',
    Query extends z.ZodObject | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
    const Format extends 'json' | 'lines' | 'events' = 'json',
  >(
    name: Name,
    terms: Terms<Context, Name, Caller, Query, Body, Answer, Format> &
      (Caller extends 'account' | 'either' ? { readonly role: Role } : unknown),
  ): Route<Context> => {
    const [method, path] = name.split(' ') as [HttpMethod, string]
    return {
      who: 'account',
      status: 200,
      format: 'json',
      query: undefined,
      body: undefined,
      ...terms,
      method,
      path,
      params: paramsOf(path),
    } as Route<Context>
  }
}

/** Declares a route that works on the database alone. */
export const route = routesOn<{ readonly database: Database }>()
