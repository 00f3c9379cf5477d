import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono, type MiddlewareHandler, type Next } from 'hono'
import { cors } from 'hono/cors'
import type { Logger } from 'pino'
import { HttpMethodNotAllowedError, RouteNotFoundError } from '../base/errors/restErrors.js'
import type { MetricsPage } from '../telemetry/createMetrics.js'
import type { Caller } from './caller.js'
import { selectDialect } from './dialects/dialect.js'
import { createGate, type Gate } from './gate/createGate.js'
import { clientIp } from './gate/keyRestrictions.js'
import { documentsFor } from './openRpc/openRpc.js'
import { openEvents } from './push/openEvents.js'
import { openSocket } from './push/openSocket.js'
import { parseJson, readBody } from './readBody.js'
import { interfaceDocument } from './rest/interfaceDocument.js'
import { answerWebhook } from './rest/webhooks.js'
import { countRequest, restError } from './restError.js'
import type { ApiLimits, RouteContext } from './routeContext.js'
import { answerRpc, idOfStranger } from './rpc/answerRpc.js'
import { errorBody } from './rpc/envelope.js'
import { json, rpcResponse } from './rpc/rpcResponse.js'
import type { Services } from './services.js'

export type Env = { Bindings: HttpBindings; Variables: { caller: Caller } }

/** Adds routes of its own to the application. */
export type Mount = (app: Hono<Env>, shared: RouteContext) => void

const RPC_PATH = '/api/:version{v[123]}/:chainId/:key'
/** The same without the key, which then comes in a header: paths stand in the logs of proxies. */
const KEYLESS_PATH = '/api/:version{v[123]}/:chainId'
const REST_PATH = '/api/v2/public/'
const WEBHOOK_PATH = `${REST_PATH}sdk/webhook`
const DOCUMENT_PATH = `${REST_PATH}sdk/openapi.json`

/** Built once per process, as bytes: it is served without a key, so an answer must cost nothing. */
const publicDocument = Buffer.from(JSON.stringify(interfaceDocument()))

type UnderCaller = <Result>(traceparent: string | undefined, work: () => Result) => Result

export type AppOptions = {
  /** undefined = neither JSON-RPC nor webhook API: the listener of the administration. */
  readonly services: Services | undefined
  readonly limits: ApiLimits
  readonly metrics: MetricsPage
  readonly logger: Logger
  /** Does the work of a request whose header `traceparent` has the value; absent = nothing is traced. */
  readonly underCaller?: UnderCaller | undefined
  /** Further routes. */
  readonly mounts: readonly Mount[]
}

/** Routes to answers. A trailing slash and unknown query parameters do no harm. */
export function createApp({ services, underCaller, mounts, ...options }: AppOptions): Hono<Env> {
  const { limits } = options
  const gate = createGate(limits.gate)
  const shared: RouteContext = { ...options, gate }

  const app = new Hono<Env>({ strict: false })
  app.use(async (c, next) => {
    const requestId = randomUUID()
    const peer = c.env.incoming.socket.remoteAddress
    const ip = clientIp(peer, c.req.header('x-forwarded-for'), limits.trustedProxies)
    c.set('caller', { ip, requestId, origin: c.req.header('origin') })
    c.header('x-request-id', requestId)
    await next()
  })

  // Pages of other origins use the interface of apps; administration is for its own console and for scripts.
  app.use('/api/*', allowAllOrigins(gate))
  if (underCaller) app.use('/api/*', (c, next) => underCaller(c.req.header('traceparent'), next))
  if (services !== undefined) mountInterface(app, services, shared)
  for (const mount of mounts) mount(app, shared)

  app.notFound(async (c) => {
    const error = new RouteNotFoundError()
    try {
      gate.enter(c.get('caller').ip)
      // A client with the URL of another provider shows its user only errors of JSON-RPC.
      const isRest = [REST_PATH, '/admin/'].some((path) => c.req.path.startsWith(path))
      if (services === undefined || c.req.method !== 'POST' || isRest) throw error
      const readable = { readBody: (limit: number) => readBody(c.env.incoming, limit) }
      return c.body(errorBody(await idOfStranger(readable, limits), error), 404, json)
    } catch (thrown) {
      return restError(c, thrown, shared)
    }
  })
  app.onError((thrown, c) => restError(c, thrown, shared))
  return app
}

/** JSON-RPC and the webhook API. */
function mountInterface(app: Hono<Env>, services: Services, shared: RouteContext): void {
  const { gate, limits, metrics } = shared
  const bytesOf = (c: Context<Env>, limit = limits.bodyBytes) => readBody(c.env.incoming, limit)
  const requestOf = (c: Context<Env>, key: string) => {
    const { version = '', chainId = '' } = c.req.param()
    const { outgoing } = c.env
    const onClose = (hear: () => void) => {
      if (outgoing.closed) queueMicrotask(hear)
      else outgoing.once('close', hear)
      return () => void outgoing.off('close', hear)
    }
    const { dialect } = c.req.query()
    return { version, chainId, key, dialect, caller: c.get('caller'), onClose }
  }
  const answerCall = async (c: Context<Env>, key: string) => {
    const readBody = (limit?: number) => bytesOf(c, limit)
    return rpcResponse(c, await answerRpc({ ...requestOf(c, key), readBody }, services, shared))
  }
  // What asks for no key and does no work is bounded by the address alone.
  const enter: MiddlewareHandler<Env> = (c, next) => {
    gate.enter(c.get('caller').ip)
    return next()
  }
  app.get('/api/:version{v[123]}/openrpc.json', enter, (c) => {
    const { name } = selectDialect(c.req.param('version'), c.req.query('dialect'))
    const hasDebug = [...services.chains.values()].some(({ debug }) => debug !== undefined)
    return c.body(documentsFor(hasDebug).files[name], 200, json)
  })
  app.get(DOCUMENT_PATH, enter, (c) => c.body(publicDocument, 200, json))
  const open = (c: Context<Env>, next: Next, key: string) => {
    const request = requestOf(c, key)
    if (c.req.header('upgrade')?.toLowerCase() === 'websocket')
      return openSocket(c, request, services, shared)
    const isStream = c.req.header('accept')?.includes('text/event-stream') ?? false
    return isStream ? openEvents(c, request, services, shared) : next()
  }
  app.get(RPC_PATH, (c, next) => open(c, next, c.req.param('key')))
  app.get(KEYLESS_PATH, (c, next) => open(c, next, keyOfHeaders(c)))
  app.post(RPC_PATH, (c) => answerCall(c, c.req.param('key')))
  app.post(KEYLESS_PATH, (c) => answerCall(c, keyOfHeaders(c)))
  for (const path of [RPC_PATH, KEYLESS_PATH])
    app.all(path, enter, (c) =>
      c.body(errorBody(null, new HttpMethodNotAllowedError(['POST'])), 405, json),
    )

  app.all(WEBHOOK_PATH, async (c) => {
    try {
      const answer = await answerWebhook(
        {
          method: c.req.method,
          authToken: c.req.header('authToken'),
          apiKey: c.req.header('apiKey'),
          query: c.req.query(),
          caller: c.get('caller'),
          readBody: async () => {
            const bytes = await bytesOf(c)
            return bytes.length === 0 ? undefined : parseJson(bytes, limits.jsonDepth)
          },
        },
        services,
        gate,
      )
      countRequest(metrics, 'webhook', 200)
      return c.json({ statusCode: 200, ...answer })
    } catch (thrown) {
      const response = restError(c, thrown, shared)
      countRequest(metrics, 'webhook', response.status)
      return response
    }
  })
}

/** The API key in `x-api-key`, or in `authorization` as Bearer; empty where there is none. */
function keyOfHeaders(c: Context<Env>): string {
  const { 'x-api-key': apiKey, authorization = '' } = c.req.header()
  return apiKey ?? /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

const exposeHeaders = ['retry-after', 'x-request-id']
const exposed = exposeHeaders.join(',')

const answerPreflight = cors({
  origin: '*',
  maxAge: 86_400,
  allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
  exposeHeaders,
})

/**
 * Lets pages of every origin use what lies behind (CORS). Headers are set before there is an answer: one that is
 * changed afterwards is copied into streams, which costs more than most requests.
 */
function allowAllOrigins(gate: Gate): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.method === 'OPTIONS') {
      gate.enter(c.get('caller').ip)
      return answerPreflight(c, next)
    }
    c.header('access-control-allow-origin', '*')
    c.header('access-control-expose-headers', exposed)
    await next()
  }
}
