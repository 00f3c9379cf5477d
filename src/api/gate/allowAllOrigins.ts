import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

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
export const allowAllOrigins: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'OPTIONS') return answerPreflight(c, next)
  c.header('access-control-allow-origin', '*')
  c.header('access-control-expose-headers', exposed)
  await next()
}
