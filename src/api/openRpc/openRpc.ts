import { z } from 'zod'
import { errorCodes } from '../../base/errors/catalogue.js'
import { version } from '../../base/version.js'
import type { DialectName, PerDialect } from '../dialects/dialect.js'
import { commonErrors } from '../methods/method.js'
import { type MethodName, methodNames, methods } from '../methods/methodList.js'

type Json = Record<string, unknown>

type OpenRpc = Json & { readonly methods: readonly Json[] }

const versionOf = { classic: 'v2', standard: 'v3' } as const

/** The OpenRPC document of a dialect: every method, also those that an operator allows or forbids (`x-scope`). */
export function openRpc(dialect: DialectName): OpenRpc {
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
  const { summary, scope, cost, inputs, errors, example, result } = methods[name]
  return {
    name,
    summary,
    paramStructure: 'by-position',
    params: inputs.map((input) => ({
      name: input.name,
      required: !input.isOptional,
      schema: schemaOf(input.json, 'input', schemas),
    })),
    result: { name: 'result', schema: schemaOf(result[dialect], 'output', schemas) },
    errors: [...errors, ...commonErrors].map((code) => ({
      code,
      message: errorCodes[code].meaning,
    })),
    examples: [
      {
        name: 'example',
        params: example.params.map((value, index) => ({
          name: inputs[index]?.name ?? `params[${index}]`,
          value,
        })),
        result: { name: 'result', value: encodeExample(name, dialect) },
      },
    ],
    'x-scope': scope,
    'x-cost': cost,
  }
}

/** The JSON of the result of a method's example. */
export function encodeExample<Name extends MethodName>(name: Name, dialect: DialectName): unknown {
  const method = methods[name]
  return JSON.parse(JSON.stringify(method.encode[dialect](method.example.outcome)))
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

/** The OpenRPC documents, made once a process. */
export const documents = { classic: openRpc('classic'), standard: openRpc('standard') } as const

/** Documents, and the same as bytes: GET serves them without a key, so an answer must cost nothing. */
function withFiles(documents: PerDialect<OpenRpc>) {
  const { classic, standard } = documents
  const files = {
    classic: Buffer.from(JSON.stringify(classic)),
    standard: Buffer.from(JSON.stringify(standard)),
  }
  return { documents, files } as const
}

function withoutDebug(document: OpenRpc): OpenRpc {
  return { ...document, methods: document.methods.filter((each) => each['x-scope'] !== 'debug') }
}

const complete = withFiles(documents)
const usual = withFiles({
  classic: withoutDebug(documents.classic),
  standard: withoutDebug(documents.standard),
})

/** The documents of a service with or without `debug_bundler_*`. */
export function documentsFor(hasDebug: boolean) {
  return hasDebug ? complete : usual
}
