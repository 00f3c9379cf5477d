import fc from 'fast-check'
import { address, rpcOperation06, rpcOperation07, word } from './apiFixtures.js'

/** Real credentials and places, so that the requests get past the door. */
export type HostileTarget = {
  readonly chainId: number
  readonly apiKey: string
  readonly authToken: string
  /** Served EntryPoint addresses. */
  readonly entryPoints: readonly string[]
}

export type HostileRequest = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Whose envelope the answer must have. */
  readonly route: 'rpc' | 'webhook' | 'other'
}

/** `count` malformed requests over all routes; the same seed gives the same requests. */
export const hostileBodies = (
  seed: number,
  count: number,
  target: HostileTarget,
): readonly HostileRequest[] => fc.sample(hostileRequest(target), { seed, numRuns: count })

const hostileRequest = (target: HostileTarget): fc.Arbitrary<HostileRequest> =>
  fc.oneof(
    { weight: 12, arbitrary: rpcRequest(target) },
    { weight: 5, arbitrary: webhookRequest(target) },
    { weight: 2, arbitrary: pathRequest(target) },
  )

const rpcRequest = ({ chainId, apiKey, entryPoints }: HostileTarget) =>
  fc
    .record({
      version: fc.constantFrom('v1', 'v2', 'v3'),
      suffix: fc.constantFrom(
        '',
        '',
        '',
        '/',
        '?x',
        '?dialect=standard',
        '?dialect=%00',
        '?__proto__=1',
      ),
      headers: hostileHeaders,
      body: fc.oneof(
        { weight: 6, arbitrary: mutated(rpcCalls(chainId, entryPoints)) },
        { weight: 1, arbitrary: batch(rpcCalls(chainId, entryPoints)) },
        { weight: 1, arbitrary: rawBody },
      ),
    })
    .map(
      ({ version, suffix, headers, body }): HostileRequest => ({
        method: 'POST',
        path: `/api/${version}/${chainId}/${apiKey}${suffix}`,
        headers,
        body,
        route: 'rpc',
      }),
    )

const webhookRequest = ({ apiKey, authToken }: HostileTarget) =>
  fc
    .record({
      method: fc.constantFrom('POST', 'GET', 'PATCH', 'DELETE', 'PUT'),
      query: fc.constantFrom(
        '',
        '?webhookId',
        '?webhookId=',
        '?webhookId=%00',
        '?webhookId=%ff',
        '?webhookId=a&webhookId=b',
      ),
      credentials: fc.oneof(
        { weight: 4, arbitrary: fc.constant({ authToken, apiKey }) },
        {
          weight: 1,
          arbitrary: fc.dictionary(fc.constantFrom('authToken', 'apiKey'), headerValue),
        },
      ),
      headers: hostileHeaders,
      body: fc.oneof(
        { weight: 4, arbitrary: mutated(webhookBodies) },
        { weight: 1, arbitrary: rawBody },
      ),
    })
    .map(
      ({ method, query, credentials, headers, body }): HostileRequest => ({
        method,
        path: `/api/v2/public/sdk/webhook${query}`,
        headers: { ...headers, ...credentials },
        body,
        route: 'webhook',
      }),
    )

const pathRequest = ({ chainId, apiKey }: HostileTarget) => {
  const part = (valid: string) =>
    fc.oneof(fc.constant(valid), fc.constantFrom(...hostilePathParts), encodedPart)
  return fc
    .record({
      method: fc.constantFrom('POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS'),
      parts: fc.oneof(
        fc.tuple(fc.constant('api'), part('v2'), part(String(chainId)), part(apiKey)),
        fc.array(part('api'), { maxLength: 6 }),
      ),
      headers: hostileHeaders,
      body: fc.oneof(rawBody, fc.constant(Buffer.from('{"id":1,"method":"eth_chainId"}'))),
    })
    .map(
      ({ method, parts, headers, body }): HostileRequest => ({
        method,
        path: `/${parts.join('/')}`,
        headers,
        body,
        route: 'other',
      }),
    )
}

const hostilePathParts = [
  '',
  '..',
  '%2e%2e',
  '%2f',
  '%5c',
  '%00',
  '%ff',
  '%',
  '%zz',
  '__proto__',
  'constructor',
  'v0',
  'V2',
  '-1',
  '0',
  '1e3',
  '0x7a69',
  '999999999999999999999',
  ':key',
  '*',
  'a'.repeat(3_000),
]

const encodedPart = fc.string({ unit: 'grapheme', maxLength: 20 }).map(encodeURIComponent)

const headerValue = fc.constantFrom(
  '',
  ' ',
  'x',
  'a b',
  "' or ''='",
  'é',
  '%00',
  '__proto__',
  'x'.repeat(4_000),
)

const hostileHeaders = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'accept',
    'origin',
    'x-forwarded-for',
    'content-encoding',
    'cookie',
    'access-control-request-method',
  ),
  headerValue,
  { maxKeys: 3 },
)

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

const rpcCalls = (chainId: number, entryPoints: readonly string[]): readonly Json[] => {
  const mode = {
    mode: 'SPONSORED',
    calculateGasLimits: true,
    expiryDuration: 300,
    sponsorshipInfo: { webhookData: { a: 1 }, smartAccountInfo: { name: 'a', version: '1' } },
  }
  const override = {
    [address('a')]: { balance: '0x1', nonce: '0x1', code: '0x', stateDiff: { '0x1': '0x2' } },
  }
  const token = {
    mode: 'ERC20',
    tokenInfo: { feeTokenAddress: address('b'), tokenList: [address('c')] },
  }
  const calls = entryPoints.flatMap((entryPoint): [string, Json][] =>
    [rpcOperation06, rpcOperation07].flatMap((op): [string, Json][] => [
      ['eth_estimateUserOperationGas', [op, entryPoint, override]],
      ['eth_sendUserOperation', [op, entryPoint, { simulation_type: 'validation' }]],
      ['pm_sponsorUserOperation', [op, mode]],
      ['pm_getFeeQuoteOrData', [op, token]],
      ['pm_getPaymasterStubData', [op, entryPoint, `0x${chainId.toString(16)}`, mode]],
      ['pm_getPaymasterData', [op, entryPoint, chainId, mode]],
    ]),
  )
  const hashCalls = [
    'eth_getUserOperationReceipt',
    'eth_getUserOperationByHash',
    'biconomy_getUserOperationStatus',
  ]
  const plainCalls = [
    'eth_chainId',
    'eth_supportedEntryPoints',
    'web3_clientVersion',
    'biconomy_getGasFeeValues',
  ]
  return [
    ...calls,
    ...hashCalls.map((method): [string, Json] => [method, [word('a')]]),
    ...plainCalls.map((method): [string, Json] => [method, []]),
  ].map(([method, params]) => ({ jsonrpc: '2.0', id: 1, method, params }))
}

const webhookBodies: readonly Json[] = [
  { webhookUrl: 'https://dapp.example/hook', requestType: 'POST' },
  { webhookUrl: '' },
  { webhookId: '00000000-0000-4000-8000-000000000000', active: true },
]

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

/** A valid body with one to three places replaced, removed or added to. */
const mutated = (bases: readonly Json[]): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      fc.constantFrom(...bases),
      fc.array(
        fc.record({
          steps: fc.array(fc.nat(), { maxLength: 5 }),
          change: fc.constantFrom('replace', 'replace', 'remove', 'add', 'pollute'),
          value: hostileValue,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([base, mutations]) => toBytes(mutations.reduce<Json>(applyMutation, base)))

type Mutation = { readonly steps: readonly number[]; readonly change: string; readonly value: Json }

const applyMutation = (node: Json, { steps, change, value }: Mutation): Json => {
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

const without = (node: Json, removed: string): Json =>
  Array.isArray(node)
    ? node.filter((_, index) => String(index) !== removed)
    : Object.fromEntries(Object.entries(node as object).filter(([key]) => key !== removed))

const added = (node: Json, change: string, value: Json): Json => {
  if (Array.isArray(node)) return [...node, value]
  if (typeof node !== 'object' || node === null) return value
  return { ...node, [change === 'pollute' ? polluted : 'extra']: value }
}

/** Written as `__proto__` in the text: a literal in code would set the prototype instead. */
const polluted = '(proto)'

const toBytes = (json: Json): Uint8Array =>
  Buffer.from(JSON.stringify(json).replaceAll(`"${polluted}"`, '"__proto__"'))

const batch = (bases: readonly Json[]): fc.Arbitrary<Uint8Array> =>
  fc
    .array(fc.oneof(fc.constantFrom(...bases), hostileValue), { maxLength: 8 })
    .chain((calls) =>
      fc.constantFrom(
        calls,
        Array.from({ length: 101 }, () => calls[0] ?? null),
      ),
    )
    .map(toBytes)

/** Deep where any object is welcome: whoever writes it out again must not run out of stack. */
const deepWebhookData = JSON.stringify({
  id: 1,
  method: 'pm_sponsorUserOperation',
  params: [
    rpcOperation06,
    { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { deep: polluted } } },
  ],
}).replace(`"${polluted}"`, `${'['.repeat(50_000)}${']'.repeat(50_000)}`)

const rawBody: fc.Arbitrary<Uint8Array> = fc.oneof(
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
