import { z } from 'zod'
import type { Route } from '../src/tenants/route.js'

/** What of JSON schemas our routes use. */
type Shape = {
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly type?: string | readonly string[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Shape | boolean
}

/** The types of the administration API for its client: of each route, what it takes and what it answers. */
export function adminTypes(routes: readonly Route[]): string {
  const members = routes.map((route) => {
    const { method, path, summary, params, query, body, answer, format } = route
    const parts = Object.entries({ params, query, body }).flatMap(([name, schema]) => {
      if (schema === undefined) return []
      const shape = shapeOf(schema, 'input')
      // A part without obligatory members may be left out.
      const mark = shape.type === 'object' && !shape.required?.length ? '?' : ''
      return [`${name}${mark}: ${typeOf(shape)}`]
    })
    const kind = format === 'json' ? '' : `; format: '${format}'`
    return `/** ${summary} */
  '${method} ${path}': { request: { ${parts.join('; ')} }; answer: ${typeOf(shapeOf(answer, 'output'))}${kind} }`
  })
  return `// Made of the routes by scripts/adminTypes.ts (npm run generate:admin).
export type AdminRoutes = {
  ${members.join('\n  ')}
}
`
}

function shapeOf(schema: z.ZodType, io: 'input' | 'output'): Shape {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Shape
}

function typeOf(shape: Shape): string {
  if ('const' in shape) return JSON.stringify(shape.const)
  const { enum: values, anyOf, oneOf, type, items = {} } = shape
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ')
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return choices.map(typeOf).join(' | ')
  if (type === 'array') return `(${typeOf(items)})[]`
  if (type === 'object') return objectOf(shape)
  if (type === undefined) return 'unknown'
  return [type].flat().join(' | ').replace('integer', 'number')
}

function objectOf({ properties, required = [], additionalProperties }: Shape): string {
  if (properties === undefined)
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`
  const members = Object.entries(properties).map(([name, shape]) =>
    required.includes(name)
      ? `'${name}': ${typeOf(shape)}`
      : `'${name}'?: ${typeOf(shape)} | undefined`,
  )
  return `{ ${members.join('; ')} }`
}
