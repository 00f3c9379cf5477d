import { z } from 'zod'
import { version } from '../../base/version.js'
import type { Route, Who } from '../../tenants/route.js'
import { failure } from '../../tenants/schemas.js'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of a route table. */
export function openApi(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Purser administration', version },
    servers: [{ url: '/admin/v1' }],
    paths,
    components: {
      securitySchemes: {
        account: { type: 'apiKey', in: 'header', name: 'authToken' },
        operator: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: '__Host-purser' },
      },
      schemas: { Failure: schemaOf(failure, 'output') },
    },
  }
}

/** The credentials that a caller may have. */
const credentials: Readonly<Record<Who, readonly string[]>> = {
  operator: ['operator', 'session'],
  account: ['account', 'session'],
  either: ['account', 'operator', 'session'],
  user: ['session'],
  anybody: [],
}

const accountParameter: Json = {
  name: 'purser-account',
  in: 'header',
  required: false,
  description:
    'The account, for users who are signed in, and for what the operator only reads; a token has its own',
  schema: { type: 'string', format: 'uuid' },
}

function operation(route: Route): Json {
  const { method, path, summary, who, role, status, params, query, body, answer, format } = route
  const isOfAccount = who === 'account' || who === 'either'
  return {
    operationId: `${method.toLowerCase()}${path.replace(/\W+(\w)/g, (_, letter) => letter.toUpperCase()).replace(/\W/g, '')}`,
    summary,
    'x-role': role ?? who,
    security: credentials[who].map((kind) => ({ [kind]: [] })),
    parameters: [
      ...parameters(params, 'path'),
      ...parameters(query, 'query'),
      ...(isOfAccount ? [accountParameter] : []),
    ],
    ...(body && {
      requestBody: { required: true, content: content(schemaOf(body, 'input')) },
    }),
    responses: {
      [status]: { description: summary, content: content(schemaOf(answer, 'output'), format) },
      default: {
        description: 'Refused',
        content: content({ $ref: '#/components/schemas/Failure' }),
      },
    },
  }
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}

const contentTypes = {
  json: 'application/json',
  lines: 'application/x-ndjson',
  events: 'text/event-stream',
} as const

function content(schema: Json, format: Route['format'] = 'json'): Json {
  return { [contentTypes[format]]: { schema } }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
