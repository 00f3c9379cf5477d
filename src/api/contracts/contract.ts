import type { z } from 'zod'
import type { Role } from '../../base/vocabulary.js'

/**
 * The caller that a route needs: the operator; a user with a role in an account; either of them; a user who is
 * signed in; or nobody in particular.
 */
export type Who = 'operator' | 'account' | 'either' | 'user' | 'anybody'

/** The caller of a route, with the role that it needs where it is about an account. */
export type Needs =
  | { readonly who: 'operator' | 'user' | 'anybody'; readonly role?: never }
  | { readonly who: 'account' | 'either'; readonly role: Role }

/**
 * The part of a route of the administration API that both sides know. The server checks requests and shapes answers
 * with it; the OpenAPI document and the types of clients are made from it. At this edge wei and other large numbers are
 * decimal text, and times are ISO 8601.
 */
export type Contract = Needs & {
  readonly summary: string
  /** Its command, of the group of its subject: `create` of `purser webhook`. Absent = it has none. */
  readonly command?: string
  /** Absent = 200. */
  readonly status?: 201
  /** `lines`: the answer is NDJSON; `events`: server-sent events. `answer` is what each line or event holds. */
  readonly format?: 'lines' | 'events'
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly answer: z.ZodType
}

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * Method and path below /admin/v1, with parameters as `{name}`. A route with `{appId}` sees an account's own apps only.
 */
export type RouteName = `${HttpMethod} /${string}`

/** The contracts of one subject. */
export type Contracts = Readonly<Record<RouteName, Contract>>

/** The two words of a route name. */
export function splitRouteName(name: RouteName): {
  readonly method: HttpMethod
  readonly path: string
} {
  const [method, path] = name.split(' ') as [HttpMethod, string]
  return { method, path }
}
