import fc from 'fast-check'
import { address, rpcOperation06, rpcOperation07, word } from './apiFixtures.js'
import { batch, type Json, mutated, rawBody } from './hostileJson.js'

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

function rpcRequest({ chainId, apiKey, entryPoints }: HostileTarget) {
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

function rpcCalls(chainId: number, entryPoints: readonly string[]): readonly Json[] {
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
      ['pm_validateSponsorshipPolicies', [op, entryPoint, ['a policy']]],
      ...clientCalls(chainId, op, entryPoint),
    ]),
  )
  const hashCalls = [
    'eth_getUserOperationReceipt',
    'eth_getUserOperationByHash',
    'biconomy_getUserOperationStatus',
    'pimlico_getUserOperationStatus',
  ]
  const plainCalls = [
    'eth_chainId',
    'eth_supportedEntryPoints',
    'web3_clientVersion',
    'biconomy_getGasFeeValues',
    'pimlico_getUserOperationGasPrice',
  ]
  return [
    ...calls,
    ...hashCalls.map((method): [string, Json] => [method, [word('a')]]),
    ...plainCalls.map((method): [string, Json] => [method, []]),
  ].map(([method, params]) => ({ jsonrpc: '2.0', id: 1, method, params }))
}

function clientCalls(chainId: number, op: Json, entryPoint: string): readonly [string, Json][] {
  const zeroDev = { chainId, userOp: op, entryPointAddress: entryPoint }
  const overrides = { maxFeePerGas: { multiplier: 1.5 }, callGasLimit: '0x1' }
  return [
    ['zd_sponsorUserOperation', [{ ...zeroDev, gasTokenData: { tokenAddress: address('b') } }]],
    ['stackup_getERC20TokenQuotes', [{ ...zeroDev, tokenAddress: address('b') }]],
    ['alchemy_requestGasAndPaymasterAndData', [{ entryPoint, userOperation: op, overrides }]],
    ['pimlico_getTokenQuotes', [{ tokens: [address('b')] }, entryPoint, chainId]],
    ['pm_accounts', [entryPoint]],
    ['eth_call', [{ to: entryPoint, data: '0x01' }, 'latest', { [entryPoint]: { code: '0x' } }]],
    ['eth_getStorageAt', [entryPoint, '0x0', 'latest']],
    ['eth_feeHistory', ['0x1', 'latest', [50]]],
    ['eth_getLogs', [{ address: entryPoint, fromBlock: '0x1', topics: [null, [word('a')]] }]],
  ]
}

const webhookBodies: readonly Json[] = [
  { webhookUrl: 'https://dapp.example/hook', requestType: 'POST' },
  { webhookUrl: '' },
  { webhookId: '00000000-0000-4000-8000-000000000000', active: true },
]
