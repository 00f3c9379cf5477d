import { z } from 'zod'
import { version } from '../../base/version.js'
import { type InterfaceRoute, interfaceRoutes } from './interfaceRoutes.js'
import { approvalAnswer, approvalBody, eventBodies } from './outgoingCalls.js'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of webhook management and dashboard, with the calls that Purser makes. */
export function interfaceDocument(): Json {
  const paths: Record<string, Json> = {}
  for (const route of interfaceRoutes) {
    const path = `/${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Purser webhooks and dashboard', version },
    servers: [{ url: '/api/v2/public/sdk' }],
    paths,
    webhooks: outgoing(),
    components: {
      securitySchemes: {
        authToken: { type: 'apiKey', in: 'header', name: 'authToken' },
        apiKey: { type: 'apiKey', in: 'header', name: 'apiKey' },
      },
      schemas: {
        Failure: schemaOf(z.strictObject({ statusCode: z.int(), message: z.string() }), 'output'),
      },
    },
  }
}

function operation({
  method,
  path,
  summary,
  role,
  needsKey,
  query,
  body,
  message,
  data,
}: InterfaceRoute): Json {
  const answer = z.strictObject({
    statusCode: z.literal(200),
    message: z.literal(message),
    ...(data === undefined ? {} : { data }),
  })
  const key = needsKey ? { apiKey: [] } : {}
  return {
    operationId: `${method.toLowerCase()}-${path.replace(/\W+/g, '-').replace(/-$/, '')}`,
    summary,
    'x-role': role,
    security: [{ authToken: [], ...key }],
    parameters: [...parametersOf(path), ...queryOf(query)],
    ...(body && { requestBody: { required: true, content: content(schemaOf(body, 'input')) } }),
    responses: {
      200: { description: message, content: content(schemaOf(answer, 'output')) },
      default: {
        description: 'Refused',
        content: content({ $ref: '#/components/schemas/Failure' }),
      },
    },
  }
}

function parametersOf(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryOf(query: z.ZodObject | undefined): Json[] {
  return Object.keys(query?.shape ?? {}).map((name) => ({
    name,
    in: 'query',
    required: true,
    schema: { type: 'string' },
  }))
}

/** The headers of Standard Webhooks, by which receivers know that a call is ours. */
const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
  name,
  in: 'header',
  required: true,
  schema: { type: 'string' },
}))

function outgoing(): Json {
  const approval = {
    post: {
      operationId: 'approval',
      summary: 'Asks a webhook of the app for its approval of a sponsorship; signed.',
      parameters: signed,
      requestBody: { required: true, content: content(schemaOf(approvalBody, 'output')) },
      responses: {
        200: { description: 'The decision', content: content(schemaOf(approvalAnswer, 'input')) },
        '4XX': { description: 'Denied' },
        default: { description: 'An outage of the webhook' },
      },
    },
  }
  const events = eventBodies.map(([type, body]) => [
    type,
    {
      post: {
        operationId: type,
        summary: `Tells a subscription of ${type}; at least once, in no certain order.`,
        parameters: signed,
        requestBody: { required: true, content: content(schemaOf(body, 'output')) },
        responses: {
          '2XX': { description: 'Taken' },
          410: { description: 'Ends the subscription' },
          default: { description: 'Tried again later' },
        },
      },
    },
  ])
  return { approval, ...Object.fromEntries(events) }
}

function content(schema: Json): Json {
  return { 'application/json': { schema } }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io })
  return rest
}
