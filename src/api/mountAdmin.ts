import type { Context } from 'hono'
import { plain } from '../base/bigints.js'
import {
  InvalidFieldError,
  NotFoundError,
  RouteNotFoundError,
  UnauthorizedError,
} from '../base/errors/restErrors.js'
import type { AdminCaller, Route, RouteConnection } from '../tenants/route.js'
import { authenticateAdmin, cookieOf, isStillLetIn, visitorOf } from './admin/authenticate.js'
import { openApi } from './admin/openApi.js'
import { routes } from './admin/routeTable.js'
import { findOwnApp, runRoute } from './admin/runRoute.js'
import type { AdminContext } from './adminContext.js'
import type { Env, Mount } from './createApp.js'
import { parseJson, readBody } from './readBody.js'
import { countRequest, restError } from './restError.js'
import type { RouteContext } from './routeContext.js'

const ADMIN_PATH = '/admin/v1'

/** The administration API: every row of the route table, and the document that describes them. */
export function mountAdmin(context: AdminContext): Mount {
  return (app, shared) => {
    const document = openApi(routes)
    app.get(`${ADMIN_PATH}/openapi.json`, (c) => {
      shared.gate.enter(c.get('caller').ip)
      return c.json(document)
    })
    for (const route of routes) {
      const path = ADMIN_PATH + route.path.replace(/\{(\w+)\}/g, ':$1')
      app.on(route.method, path, async (c) => {
        c.header('cache-control', 'no-store')
        c.header('referrer-policy', 'no-referrer')
        c.header('x-robots-tag', 'noindex')
        const response = await answer(c, route, context, shared)
        countRequest(shared.metrics, `${route.method} ${route.path}`, response.status)
        return response
      })
    }
    app.all(`${ADMIN_PATH}/*`, (c) => restError(c, new RouteNotFoundError(), shared))
  }
}

async function answer(
  c: Context<Env>,
  route: Route,
  context: AdminContext,
  shared: RouteContext,
): Promise<Response> {
  try {
    const caller = await authenticateAdmin(c, route, context, shared.gate)
    const asked = {
      params: c.req.param(),
      query: storable('The query', c.req.query()),
      body: () => bodyOf(c, shared),
    }
    const result = await runRoute(route, caller, asked, {
      context,
      visitor: visitorOf(c),
      cookie: cookieOf(c, context.adminUrl),
      simulate: (appId, run) =>
        shared.gate.simulate(caller.share?.id ?? appId, 'eth_sendUserOperation', run),
      logger: shared.logger,
      connection: connectionOf(c, route, context, caller),
    })
    if (route.format === 'events')
      return c.body(result as ReadableStream, 200, {
        'content-type': 'text/event-stream',
        // Without it, proxies such as nginx gather the events.
        'x-accel-buffering': 'no',
      })
    if (route.format === 'lines')
      return c.body(linesOf(route, result as AsyncIterable<unknown>, shared), 200, {
        'content-type': 'application/x-ndjson',
      })
    return c.json(result as object, route.status)
  } catch (thrown) {
    if (route.who === 'anybody' && thrown instanceof UnauthorizedError)
      shared.gate.credentialWasWrong(c.get('caller').ip)
    return restError(c, thrown, shared)
  }
}

function connectionOf(
  c: Context<Env>,
  route: Route,
  context: AdminContext,
  caller: AdminCaller,
): RouteConnection {
  const appId = c.req.param('appId')
  return {
    lastEventId: c.req.header('last-event-id'),
    isStillLetIn: async () => {
      if (!(await isStillLetIn(c, route, context))) return false
      const isGone = (error: unknown) => error instanceof NotFoundError
      return findOwnApp(context.database, caller, appId).then(
        (app) => app === undefined || app.revokedAt === null,
        (error) => {
          if (isGone(error)) return false
          throw error
        },
      )
    },
    cut: () => {
      c.env.outgoing.destroy()
    },
  }
}

async function bodyOf(c: Context<Env>, { limits }: RouteContext): Promise<unknown> {
  const bytes = await readBody(c.env.incoming, limits.bodyBytes)
  return storable('The body', bytes.length === 0 ? {} : parseJson(bytes, limits.jsonDepth))
}

/** The value, of text that PostgreSQL takes. Throws InvalidFieldError. */
function storable<Value>(name: string, value: Value): Value {
  if (unstorable.test(JSON.stringify(value)))
    throw new InvalidFieldError(name, 'holds text with U+0000 or half a surrogate pair')
  return value
}

/** The character that PostgreSQL cannot store, as JSON.stringify escapes it: not after an escaped backslash. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** Each item as a line of JSON, read as fast as the client takes it. */
function linesOf(
  { answer: line }: Route,
  items: AsyncIterable<unknown>,
  { logger }: RouteContext,
): ReadableStream<Uint8Array> {
  const iterator = items[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await iterator.next()
        if (done) return controller.close()
        controller.enqueue(encoder.encode(`${JSON.stringify(line.parse(plain(value)))}\n`))
      } catch (err) {
        // The answer has begun: a connection that breaks is the one way to say that it is not whole.
        logger.warn({ err }, 'an export was interrupted')
        controller.error(err)
      }
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
