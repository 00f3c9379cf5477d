import fc from 'fast-check'
import { documents } from '../../../src/api/openRpc/openRpc.js'
import { rpcOperation06, rpcOperation07, word } from './apiFixtures.js'
import { arbitraryOf, type JsonSchema } from './arbitraryOf.js'
import { batch, type Json, mutated, rawBody } from './hostileJson.js'

/** Real credentials and places, so that the requests pass authentication. */
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
export function hostileBodies(
  seed: number,
  count: number,
  target: HostileTarget,
): readonly HostileRequest[] {
  return fc.sample(hostileRequest(target), { seed, numRuns: count })
}

function hostileRequest(target: HostileTarget): fc.Arbitrary<HostileRequest> {
  return fc.oneof(
    { weight: 12, arbitrary: rpcRequest(target) },
    { weight: 5, arbitrary: webhookRequest(target) },
    { weight: 2, arbitrary: pathRequest(target) },
  )
}

function rpcRequest(target: HostileTarget) {
  const { chainId, apiKey } = target
  const calls = rpcCalls(target)
  return fc
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
        { weight: 6, arbitrary: mutated(calls, 0) },
        { weight: 1, arbitrary: batch(calls) },
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
}

function webhookRequest({ apiKey, authToken }: HostileTarget) {
  return fc
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
}

function pathRequest({ chainId, apiKey }: HostileTarget) {
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

type Document = {
  readonly methods: readonly {
    readonly name: string
    readonly params: readonly {
      readonly name: string
      readonly schema: JsonSchema
      readonly required?: boolean
    }[]
  }[]
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** Calls of every method, with parameters that its declaration allows, about the target's chain. */
function rpcCalls({ chainId, entryPoints }: HostileTarget): fc.Arbitrary<Json> {
  const { methods, components } = documents.standard as unknown as Document
  const operation = fc.constantFrom(rpcOperation06, rpcOperation07)
  const entryPoint = fc.constantFrom(...entryPoints)
  const operations = ['operation', 'userOp', 'userOperation']
  const known = {
    chainId: fc.constantFrom(chainId, `0x${chainId.toString(16)}`),
    entryPoint,
    entryPointAddress: entryPoint,
    operation,
    userOp: operation,
    userOperation: operation,
    userOpHash: fc.constant(word('a')),
  }
  const calls = methods.map(({ name: method, params }) => {
    const members = Object.fromEntries(params.map(({ name, schema }) => [name, schema]))
    const values = arbitraryOf(
      { type: 'object', properties: members, required: Object.keys(members) },
      components.schemas,
      known,
    )
    // Optional parameters may be absent, the last ones first.
    const least = params.filter(({ required }) => required === true).length
    const arbitrary = fc
      .tuple(values, fc.integer({ min: least, max: params.length }))
      .map(([given, count]) => ({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: Object.values(given as object).slice(0, count),
      }))
    // Few operations survive their mutations, so there are more of them.
    return { weight: params.some(({ name }) => operations.includes(name)) ? 4 : 1, arbitrary }
  })
  return fc.oneof(...calls)
}

const webhookBodies = fc.constantFrom<Json>(
  { webhookUrl: 'https://dapp.example/hook', requestType: 'POST' },
  { webhookUrl: '' },
  { webhookId: '00000000-0000-4000-8000-000000000000', active: true },
)
