import { z } from 'zod'
import { version } from '../../base/version.js'
import { errorCodes } from '../../errors/errorCodes.js'
import type { DialectName } from '../dialects/dialect.js'
import { commonErrors } from '../methods/methodErrors.js'
import { type MethodName, methodNames, methods } from '../methods/methodList.js'
import { methodSchemas, resultSchema } from './methodSchemas.js'

type Json = Record<string, unknown>

const versionOf = { classic: 'v2', standard: 'v3' } as const

/** The OpenRPC document of a dialect: every method, also those that an operator may forbid (`x-scope`). */
export function openRpc(dialect: DialectName): Json {
  const schemas: Json = {}
  return {
    openrpc: '1.3.2',
    info: {
      title: `Purser, ${dialect} dialect`,
      version,
      license: { name: 'MIT' },
    },
    servers: [
      {
        name: 'Purser',
        url: `/api/${versionOf[dialect]}/{chainId}/{apiKey}`,
        variables: { chainId: { default: '1' }, apiKey: { default: 'KEY' } },
      },
    ],
    methods: methodNames.map((name) => methodOf(name, dialect, schemas)),
    components: { schemas },
  }
}

/** One method; the schemas that it shares with others go into `schemas`. */
function methodOf(name: MethodName, dialect: DialectName, schemas: Json): Json {
  const { summary, scope, cost, params, errors, example } = methods[name]
  const values = methodSchemas[name].params
  return {
    name,
    summary,
    paramStructure: 'by-position',
    params: params.map((param, index) => ({
      name: param.replace('?', ''),
      required: !param.endsWith('?'),
      schema: schemaOf(values[index] ?? z.unknown(), 'input', schemas),
    })),
    result: { name: 'result', schema: schemaOf(resultSchema(name, dialect), 'output', schemas) },
    errors: [...errors, ...commonErrors].map((code) => ({ code, message: errorCodes[code] })),
    examples: [
      {
        name: 'example',
        params: example.params.map((value, index) => ({
          name: params[index]?.replace('?', '') ?? `params[${index}]`,
          value,
        })),
        result: { name: 'result', value: example.result[dialect] },
      },
    ],
    'x-scope': scope,
    'x-cost': cost,
  }
}

/** The schema as JSON; its named parts are moved into `schemas`, to which it refers. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const made = z.toJSONSchema(schema, { io, target: 'draft-7', unrepresentable: 'any' })
  const text = JSON.stringify(made).replaceAll('"#/definitions/', '"#/components/schemas/')
  const { $schema: _, definitions, ...rest } = JSON.parse(text)
  for (const [name, { id: __, ...part }] of Object.entries<Json>(definitions ?? {}))
    schemas[name] = part
  return rest
}
