import type { AdminRoutes } from '../../../src/api/contracts/adminRoutes.generated.js'

/** A route of the administration API: `GET /operations`. */
export type RouteOf = keyof AdminRoutes

/** The answer of a route, as its declaration describes it. */
export type AnswerOf<Name extends RouteOf> = AdminRoutes[Name]['answer']
