import fc from 'fast-check'
import { address, rpcOperation06, word } from './apiFixtures.js'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

const hostileValue: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    '',
    ' ',
    '0x',
    '0X',
    '0x0',
    '0x00',
    '0xzz',
    '0x123',
    '-1',
    '+1',
    '1e3',
    '0.1',
    'NaN',
    'Infinity',
    `0x${'f'.repeat(64)}`,
    `0x${'f'.repeat(65)}`,
    '9'.repeat(100),
    '\u0000',
    '\ud800',
    '💥',
    [],
    {},
    [[]],
    [{}],
    address('a'),
    word('b'),
    `0x${'00'.repeat(140_000)}`,
    'x'.repeat(5_000),
    '../../etc/passwd',
    "'; drop table operations; --",
    '{{7*7}}',
    '<script>',
    { toString: 1, constructor: 1, length: 1 },
    'ERC20',
    'SPONSORED',
    '0x7702',
  ),
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>,
)

/** A valid body with `least` to three places replaced, removed or added to. */
export function mutated(bases: fc.Arbitrary<Json>, least = 1): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(
      bases,
      fc.array(
        fc.record({
          steps: fc.array(fc.nat(), { maxLength: 5 }),
          change: fc.constantFrom('replace', 'replace', 'remove', 'add', 'pollute'),
          value: hostileValue,
        }),
        { minLength: least, maxLength: 3 },
      ),
    )
    .map(([base, mutations]) => toBytes(mutations.reduce<Json>(applyMutation, base)))
}

type Mutation = { readonly steps: readonly number[]; readonly change: string; readonly value: Json }

function applyMutation(node: Json, { steps, change, value }: Mutation): Json {
  const [step, ...rest] = steps
  if (step === undefined || typeof node !== 'object' || node === null)
    return change === 'replace' ? value : added(node, change, value)
  const keys = Object.keys(node)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return value
  if (rest.length === 0 && change === 'remove') return without(node, key)
  const child = applyMutation((node as Record<string, Json>)[key] ?? null, {
    steps: rest,
    change,
    value,
  })
  return Array.isArray(node)
    ? node.map((item, index) => (String(index) === key ? child : item))
    : { ...node, [key]: child }
}

function without(node: Json, removed: string): Json {
  return Array.isArray(node)
    ? node.filter((_, index) => String(index) !== removed)
    : Object.fromEntries(Object.entries(node as object).filter(([key]) => key !== removed))
}

function added(node: Json, change: string, value: Json): Json {
  if (Array.isArray(node)) return [...node, value]
  if (typeof node !== 'object' || node === null) return value
  return { ...node, [change === 'pollute' ? polluted : 'extra']: value }
}

/** Written as `__proto__` in the text: a literal in code would set the prototype instead. */
const polluted = '(proto)'

function toBytes(json: Json): Uint8Array {
  return Buffer.from(JSON.stringify(json).replaceAll(`"${polluted}"`, '"__proto__"'))
}

export function batch(bases: fc.Arbitrary<Json>): fc.Arbitrary<Uint8Array> {
  return fc
    .array(fc.oneof(bases, hostileValue), { maxLength: 8 })
    .chain((calls) =>
      fc.constantFrom(
        calls,
        Array.from({ length: 101 }, () => calls[0] ?? null),
      ),
    )
    .map(toBytes)
}

/** Deep where any object is welcome: code that writes it out again must not run out of stack. */
const deepWebhookData = JSON.stringify({
  id: 1,
  method: 'pm_sponsorUserOperation',
  params: [
    rpcOperation06,
    { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { deep: polluted } } },
  ],
}).replace(`"${polluted}"`, `${'['.repeat(50_000)}${']'.repeat(50_000)}`)

export const rawBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .constantFrom(
      '',
      '{',
      '[',
      'null',
      '""',
      '0',
      '[]',
      '{}',
      '[[]]',
      '[null]',
      '[{}]',
      '\ufeff{}',
      '{"id":1}}',
      '{"id":1e999,"method":"eth_chainId"}',
      '{"id":1,"id":{},"method":"eth_chainId"}',
      '{"__proto__":{"method":"eth_chainId","id":1}}',
      '{"id":"\\ud800","method":"eth_chainId"}',
      '{"id":1,"method":"constructor","params":[]}',
      '{"id":1,"method":"__proto__"}',
      '{"id":1,"method":"eth_chainId","params":{"0":1}}',
      "{'id':1}",
      'id=1&method=eth_chainId',
      '['.repeat(100_000),
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      `{"id":1,"method":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
      `{"id":${'9'.repeat(10_000)},"method":"eth_chainId"}`,
      deepWebhookData,
      ' '.repeat(1_100_000),
    )
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom([0xff, 0xfe, 0x7b, 0x00], [0x22, 0xc3, 0x28, 0x22], [0x1f, 0x8b, 0x08])
    .map((bytes) => Uint8Array.from(bytes)),
)
