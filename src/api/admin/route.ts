import type { Logger } from 'pino'
import type { z } from 'zod'
import { InvalidFieldError } from '../../base/errors/restErrors.js'
import type { App } from '../../tenants/apps.js'
import type { Actor, AuditChange } from '../../tenants/audit.js'
import type { SessionUser } from '../../tenants/people/sessions.js'
import type { Visitor } from '../../tenants/people/signIn.js'
import type { AdminContext } from '../adminContext.js'
import {
  type Contract,
  type Contracts,
  type HttpMethod,
  type Needs,
  type RouteName,
  splitRouteName,
} from '../contracts/contract.js'

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

type Values<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** A request that fits the contract `Each` of the route `Name`. */
export type RouteRequest<Name, Each> = {
  readonly context: AdminContext
  readonly caller: AdminCaller
  /** Makes a change of the caller's, with its entries in the audit log. Throws RateLimitError. */
  change<Result>(run: (change: AuditChange) => Promise<Result>): Promise<Result>
  /** The caller's account. */
  readonly accountId: Each extends { readonly who: 'account' } ? string : string | undefined
  /** The user who is signed in. */
  readonly user: Each extends { readonly who: 'user' } ? SessionUser : SessionUser | undefined
  readonly visitor: Visitor
  readonly cookie: SessionCookie
  /** The live app that the path names, the caller's own, or any of the operator's. */
  readonly app: Name extends `${string}{appId}${string}` ? App : undefined
  readonly params: Each extends { readonly params: infer Schema } ? Values<Schema> : undefined
  readonly query: Each extends { readonly query: infer Schema } ? Values<Schema> : undefined
  readonly body: Each extends { readonly body: infer Schema } ? Values<Schema> : undefined
  /** The body as it was sent. */
  readonly raw: unknown
  /** Runs a simulation for the app unless too many are under way. Throws RateLimitError. */
  simulate<Result>(appId: string, run: () => Promise<Result>): Promise<Result>
  readonly logger: Logger
  readonly connection: RouteConnection
}

/** The connection of a request whose answer has no end. */
export type RouteConnection = {
  /** The id of the last event that the client has. */
  readonly lastEventId: string | undefined
  /** Whether the caller may still do what the route needs, with the app of its path. */
  isStillLetIn(): Promise<boolean>
  /** Cuts it, whatever waits to be read. */
  cut(): void
}

/** One contract with what serves it. */
export type Route = Needs & {
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
  readonly run: (request: never) => unknown
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

type Answered<Each> = Each extends { readonly answer: infer Schema extends z.ZodType }
  ? Each extends { readonly format: 'lines' }
    ? AsyncIterable<Inside<z.input<Schema>>>
    : Each extends { readonly format: 'events' }
      ? ReadableStream
      : Inside<z.input<Schema>>
  : never

/** What a handler may give in place of the whole answer. */
type Short<Answer> =
  | undefined
  | (Answer extends { readonly done: true } ? boolean : never)
  | (Answer extends { readonly items: infer Items } ? Items : never)

/** The answer; undefined or false: there is no such object; true: it is done; a list: its items. */
type Handler<Name, Each> = (
  request: RouteRequest<Name, Each>,
) => Answered<Each> | Short<Answered<Each>> | Promise<Answered<Each> | Short<Answered<Each>>>

type Handlers<Group> = { readonly [Name in keyof Group]: Handler<Name, Group[Name]> }

/**
 * Serves each contract of a group by its handler, which gets and gives what the contract says. The handlers are a second
 * call because the compiler must know the group before it reads them.
 */
export function serve<Group extends Contracts>(contracts: Group) {
  const entries = Object.entries(contracts) as [RouteName & keyof Group, Contract][]
  return (handlers: Handlers<Group>): readonly Route[] =>
    entries.map(([name, contract]) => ({
      status: 200,
      format: 'json',
      ...contract,
      ...splitRouteName(name),
      params: contract.params,
      query: contract.query,
      body: contract.body,
      run: handlers[name],
    }))
}

/** A cursor that is a row's number, as `next` gave it. */
export function cursorNumber(before: string | undefined): string | undefined {
  if (before !== undefined && !/^\d{1,18}$/.test(before))
    throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
  return before
}
