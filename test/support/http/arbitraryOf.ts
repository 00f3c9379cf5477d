import fc, { type Arbitrary } from 'fast-check'

/** The part of JSON Schema that our documents use. */
export type JsonSchema = {
  readonly $ref?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly not?: JsonSchema
  readonly type?: string | readonly string[]
  readonly pattern?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly propertyNames?: JsonSchema
  readonly additionalProperties?: JsonSchema | boolean
}

/**
 * Values that fit a schema. Lists are short: their bounds are tested elsewhere.
 * @param named the schemas to which it refers
 * @param known values of members with these names, instead of what their schemas allow
 */
export function arbitraryOf(
  schema: JsonSchema,
  named: Readonly<Record<string, JsonSchema>>,
  known: Readonly<Record<string, Arbitrary<unknown>>> = {},
): Arbitrary<unknown> {
  const of = (inner: JsonSchema | undefined, name?: string) =>
    (name && known[name]) || arbitraryOf(inner ?? {}, named, known)
  if (schema.$ref !== undefined) return of(named[schema.$ref.split('/').at(-1) ?? ''])
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((each) => of(each)))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => of({ ...schema, type })))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'string':
      return schema.pattern === undefined
        ? fc.string({ maxLength: schema.maxLength ?? 20 })
        : textLike(schema.pattern)
    case 'integer':
      return fc.maxSafeInteger().map((number) => within(number, schema))
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1e9, noNaN: true })
    case 'array':
      return fc.array(of(schema.items), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'object':
      return objectOf(schema, of)
    default:
      return fc.jsonValue()
  }
}

/** Hex of so many digits or of whole bytes, in any case; such patterns are frequent, and `stringMatching` is slow. */
function textLike(pattern: string): Arbitrary<string> {
  const hex = /^\^0\[xX\](\()?\[0-9a-fA-F\]\{(\d+)(?:,(\d+))?\}(?:\)\*)?\$$/.exec(pattern)
  if (hex === null) return fc.stringMatching(new RegExp(pattern))
  const [, bytes, least, most = least] = hex
  const digits = fc.string({
    unit: fc.constantFrom(...'0123456789abcdefABCDEF'),
    minLength: bytes ? 0 : Number(least),
    maxLength: bytes ? 80 : Number(most),
  })
  return fc
    .tuple(fc.constantFrom('0x', '0X'), digits)
    .map(([prefix, text]) => prefix + (bytes ? text.slice(text.length % 2) : text))
}

function within(number: number, { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema) {
  const span = maximum - minimum + 1
  return minimum + (((number % span) + span) % span)
}

function objectOf(
  { properties, required = [], propertyNames, additionalProperties }: JsonSchema,
  of: (schema: JsonSchema | undefined, name?: string) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  if (properties !== undefined) {
    const members = Object.entries(properties).map(
      ([name, inner]) => [name, of(inner, name)] as const,
    )
    return fc.record(Object.fromEntries(members), { requiredKeys: [...required] })
  }
  const values = typeof additionalProperties === 'object' ? additionalProperties : undefined
  return fc
    .uniqueArray(fc.tuple(of(propertyNames), of(values)), {
      maxLength: 3,
      selector: ([name]) => String(name).toLowerCase(),
    })
    .map((entries) => Object.fromEntries(entries))
}
