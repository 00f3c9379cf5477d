import * as official from '@open-rpc/meta-schema'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryOf, type JsonSchema } from '../../../test/support/http/arbitraryOf.js'
import { PurserError } from '../../base/errors/purserError.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import { dialectNames } from '../dialects/dialect.js'
import { EXAMPLE_CHAIN_ID, EXAMPLE_ENTRY_POINT } from '../methods/examples.js'
import { commonErrors } from '../methods/method.js'
import { type MethodName, methodNames, methods } from '../methods/methodList.js'
import { encodeExample, openRpc } from './openRpc.js'

const entryPoint = createEntryPoint('0.7', EXAMPLE_ENTRY_POINT)
const chain = {
  chainId: EXAMPLE_CHAIN_ID,
  entryPoints: new Map([[entryPoint.address, entryPoint]]),
}

const meta = official as unknown as { readonly openrpcDocument: Readonly<Record<string, unknown>> }
const inside = { JSONSchemaObject: { properties: { $ref: { type: 'string' } } } }

type Described = {
  readonly name: MethodName
  readonly params: readonly { name: string; required: boolean; schema: JsonSchema }[]
  readonly result: { readonly schema: JsonSchema }
}
type Document = {
  readonly methods: readonly Described[]
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

function described(dialect: 'classic' | 'standard') {
  const document = openRpc(dialect) as unknown as Document
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'document' })
  const compile = (schema: JsonSchema) =>
    ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')),
    )
  return { document, compile }
}

describe.each(dialectNames)('the OpenRPC document of the %s dialect', (dialect) => {
  const { document, compile } = described(dialect)

  test('is what the official schema says', () => {
    // The official schema leaves the inside of schemas to another one: `compile` checks those as draft 7 below.
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addMetaSchema({ $id: 'https://meta.json-schema.tools/', definitions: inside })
    ajv.addSchema({}, 'https://meta.json-schema.tools')
    const { $schema: _, ...schema } = meta.openrpcDocument
    const fits = ajv.compile(schema)
    expect({ fits: fits(document), errors: fits.errors }).toEqual({ fits: true, errors: null })
    expect(fits({ ...document, methods: [{ name: 'nameless' }] })).toBe(false)
  })

  test('has every method, and each reference in it names something', () => {
    expect(document.methods.map(({ name }) => name)).toEqual(methodNames)
    const named = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)]
    expect(named.length).toBeGreaterThan(20)
    for (const [, name = ''] of named) expect(document.components.schemas).toHaveProperty(name)
  })

  test.each(document.methods)('$name: its example is as described', ({ name, params, result }) => {
    const { example } = methods[name]
    for (const [index, value] of example.params.entries()) {
      const fits = compile(params[index]?.schema ?? { not: {} })
      expect({ value, fits: fits(value), errors: fits.errors }).toMatchObject({ fits: true })
    }
    const fits = compile(result.schema)
    const value: unknown = encodeExample(name, dialect)
    expect({ value, fits: fits(value), errors: fits.errors }).toMatchObject({ fits: true })
  })
})

/** Methods whose parameters depend on each other, or on the chain: they may refuse what fits each schema. */
const canRefuse =
  /^(eth_(estimate|sendU|sendR|subs|call)|pm_|debug_bundler_addU|pimlico_(getT|sim)|zd_s|alch|stack)/

test.each(described('standard').document.methods.filter(({ params }) => params.length > 0))(
  '$name takes parameters as described, or refuses them as documented',
  ({ name, params }) => {
    const { schemas } = described('standard').document.components
    const codes: readonly number[] = [...methods[name].errors, ...commonErrors]
    const values = params.map(({ schema, required, name: param }) =>
      param === 'entryPoint'
        ? fc.constant<unknown>(EXAMPLE_ENTRY_POINT)
        : required
          ? arbitraryOf(schema, schemas)
          : fc.option(arbitraryOf(schema, schemas), { nil: undefined }),
    )
    let taken = 0
    fc.assert(
      fc.property(fc.tuple(...values), (given) => {
        try {
          methods[name].decode(given, chain)
          taken++
        } catch (error) {
          expect(error).toBeInstanceOf(PurserError)
          expect(codes).toContain((error as PurserError).code)
          // A schema that the decoder contradicts would be refused here, for a reason that is no dependency.
          expect(canRefuse.test(name), `${name} refuses ${JSON.stringify(given)}: ${error}`).toBe(
            true,
          )
        }
      }),
      { numRuns: 60 },
    )
    if (!canRefuse.test(name)) expect(taken).toBe(60)
  },
)
