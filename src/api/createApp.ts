import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { HttpMethodNotAllowedError, RouteNotFoundError } from '../errors/restErrors.js'
import { asPurserError } from './asPurserError.js'
import type { ApiLimits } from './limits.js'
import { parseJson } from './parseJson.js'
import { readBody } from './readBody.js'
import { answerWebhook } from './rest/answerWebhook.js'
import { answerRpc } from './rpc/answerRpc.js'
import { errorBody } from './rpc/errorBody.js'
import type { Services } from './services.js'

type Env = { Bindings: HttpBindings }

const rpcPath = '/api/:version{v[123]}/:chainId/:key'
const webhookPath = '/api/v2/public/sdk/webhook'

/** Routes to answers. A trailing slash and unknown query parameters do no harm. */
export const createApp = (services: Services, limits: ApiLimits, logger: Logger): Hono<Env> => {
  const bytesOf = (c: Context<Env>) => readBody(c.env.incoming, limits.bodyBytes)

  const app = new Hono<Env>({ strict: false })
  app.use(cors({ origin: '*', maxAge: 86_400, allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'] }))

  app.post(rpcPath, async (c) => {
    const { version, chainId, key } = c.req.param()
    const answer = await answerRpc(
      { version, chainId, key, dialect: c.req.query('dialect'), readBody: () => bytesOf(c) },
      services,
      limits,
      logger,
    )
    if (answer.body === undefined) return c.body(null, 204)
    return c.json(answer.body, answer.status as ContentfulStatusCode)
  })
  app.all(rpcPath, (c) => c.json(errorBody(null, new HttpMethodNotAllowedError(['POST'])), 405))

  app.all(webhookPath, async (c) => {
    try {
      const answer = await answerWebhook(
        {
          method: c.req.method,
          authToken: c.req.header('authToken'),
          apiKey: c.req.header('apiKey'),
          query: c.req.query(),
          readBody: async () => {
            const bytes = await bytesOf(c)
            return bytes.length === 0 ? undefined : parseJson(bytes, limits.jsonDepth)
          },
        },
        services,
      )
      return c.json({ statusCode: 200, ...answer })
    } catch (thrown) {
      return restError(c, thrown)
    }
  })

  app.on('GET', ['/health', '/health/live'], (c) => c.json({ status: 'ok' }))
  app.get('/health/ready', async (c) => {
    const { ready, checks } = await services.readiness()
    return c.json({ status: ready ? 'ok' : 'unavailable', checks }, ready ? 200 : 503)
  })

  const restError = (c: Context<Env>, thrown: unknown) => {
    const { status, message } = asPurserError(thrown, logger)
    return c.json({ statusCode: status, message }, status as ContentfulStatusCode)
  }
  app.notFound((c) => restError(c, new RouteNotFoundError()))
  app.onError((thrown, c) => restError(c, thrown))
  return app
}
