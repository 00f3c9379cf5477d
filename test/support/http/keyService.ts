import {
  createHash,
  createHmac,
  createPublicKey,
  createVerify,
  ECDH,
  generateKeyPairSync,
  type KeyObject,
  verify,
} from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hex, serializeTransaction } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { keccak256 } from 'viem/utils'
import type { ServiceKey } from '../../../src/chain/signing/serviceSigner.js'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const otherKey: Hex = `0x${'0f'.repeat(32)}`

export const keyServiceKinds = ['kms', 'gcp', 'azure', 'turnkey', 'web3signer', 'jsonRpc'] as const
type Kind = (typeof keyServiceKinds)[number]

export type KeyService = {
  readonly url: string
  /** `kind step` of every request that was signed or authorized as its service asks. */
  readonly asked: string[]
  /** Requests that are not what their service asks for. */
  readonly refused: string[]
  /** How it answers a request for a signature. */
  mode:
    | 'low'
    | 'high'
    | 'wrong parity'
    | 'other key'
    | 'throttled'
    | 'nonsense'
    | 'slow'
    | 'revoked'
    | 'other fee'
  /** Tokens that are not valid any more: those given out so far. */
  revokeTokens(): void
  /** The key as configured for that service, with the credentials that it takes. */
  key(kind: Kind): ServiceKey
  stop(): Promise<void>
}

type Request = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
type Answer = readonly [status: number, body: unknown]
class Refused extends Error {}
function demand(isRight: boolean, what: string): void {
  if (!isRight) throw new Refused(what)
}

/**
 * Speaks the protocols of the key services over one real key of secp256k1, and checks each request as they do: the
 * signature or the token, the path, the fields.
 */
export async function startKeyService(privateKey: Hex): Promise<KeyService> {
  const account = privateKeyToAccount(privateKey)
  const point = Buffer.from(account.publicKey.slice(4), 'hex')
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((half) =>
    half.toString('base64url'),
  )
  const publicKey = createPublicKey({
    key: { kty: 'EC', crv: 'secp256k1', x: x!, y: y! },
    format: 'jwk',
  })
  const google = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const turnkey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const apiPrivateKey = Buffer.from(turnkey.privateKey.export({ format: 'jwk' }).d!, 'base64url')
  const tokens = new Set<string>()
  const keyVersion = 'projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1'
  const tenantId = '00000000-0000-0000-0000-000000000001'

  async function signature(hash: Hex): Promise<{ r: bigint; s: bigint; v: bigint }> {
    const key = service.mode === 'other key' ? otherKey : privateKey
    const { r, s, yParity } = await sign({ hash, privateKey: key, to: 'object' })
    const [isHigh, isWrong] = [service.mode === 'high', service.mode === 'wrong parity']
    const v = 27n + BigInt((yParity ?? 0) ^ (isHigh || isWrong ? 1 : 0))
    return { r: BigInt(r), s: isHigh ? order - BigInt(s) : BigInt(s), v }
  }

  function giveToken(): Answer {
    const token = `token-${tokens.size}-${Math.random()}`
    tokens.add(token)
    return [200, { access_token: token, expires_in: 3_599, token_type: 'Bearer' }]
  }
  function isAuthorized({ headers }: Request): boolean {
    return tokens.has(headers.authorization?.replace(/^Bearer /, '') ?? '')
  }

  /** What a service says for a mode in which it does not sign. */
  function failureOf(throttled: Answer, denied: Answer): Answer | undefined {
    if (service.mode === 'throttled') return throttled
    return service.mode === 'revoked' ? denied : undefined
  }

  const routes: { [K in Kind]: (request: Request) => Promise<Answer> | Answer } = {
    async kms({ method, path, headers, body }) {
      demand(method === 'POST' && path === '/', 'KMS: the path')
      demand(headers['content-type'] === 'application/x-amz-json-1.1', 'KMS: the content type')
      demand(isSignedForAws(headers, body), 'KMS: the signature')
      const { KeyId, Message, MessageType, SigningAlgorithm } = JSON.parse(body)
      demand(KeyId === 'alias/executor', 'KMS: the key')
      if (headers['x-amz-target'] === 'TrentService.GetPublicKey') {
        const der = publicKey.export({ type: 'spki', format: 'der' }) as Buffer
        return [200, { PublicKey: der.toString('base64') }]
      }
      demand(headers['x-amz-target'] === 'TrentService.Sign', 'KMS: the target')
      demand(MessageType === 'DIGEST' && SigningAlgorithm === 'ECDSA_SHA_256', 'KMS: the algorithm')
      const failure = failureOf(
        [400, { __type: 'ThrottlingException' }],
        [400, { __type: 'AccessDeniedException' }],
      )
      if (failure) return failure
      return [200, { Signature: await der(hexOf(Message, 'base64')) }]
    },

    async gcp(request) {
      const { method, path, headers, body } = request
      if (path === '/token') {
        const form = new URLSearchParams(body)
        demand(
          form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          'JWT: grant',
        )
        const [head = '', claims = '', proof = ''] = (form.get('assertion') ?? '').split('.')
        const { iss, scope, aud, iat, exp } = JSON.parse(
          Buffer.from(claims, 'base64url').toString(),
        )
        const isSigned = createVerify('sha256')
          .update(`${head}.${claims}`)
          .verify(google.publicKey, proof, 'base64url')
        demand(
          isSigned && Buffer.from(head, 'base64url').toString().includes('RS256'),
          'JWT: signature',
        )
        demand(
          iss === 'a@p.iam' && aud === `${service.url}token` && exp - iat === 3_600,
          'JWT: claims',
        )
        demand(scope === 'https://www.googleapis.com/auth/cloudkms', 'JWT: scope')
        return giveToken()
      }
      if (path.startsWith('/computeMetadata/')) {
        demand(headers['metadata-flavor'] === 'Google', 'metadata: the header')
        demand(path.endsWith('/instance/service-accounts/default/token'), 'metadata: the path')
        return giveToken()
      }
      if (!isAuthorized(request)) return [401, { error: { status: 'UNAUTHENTICATED' } }]
      if (path === `/v1/${keyVersion}/publicKey`)
        return [200, { pem: publicKey.export({ type: 'spki', format: 'pem' }) }]
      demand(method === 'POST' && path === `/v1/${keyVersion}:asymmetricSign`, 'Google: the path')
      const failure = failureOf(
        [429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }],
        [403, { error: { code: 403, status: 'PERMISSION_DENIED' } }],
      )
      return (
        failure ?? [200, { signature: await der(hexOf(JSON.parse(body).digest.sha256, 'base64')) }]
      )
    },

    async azure(request) {
      const { method, path, body } = request
      if (path === `/${tenantId}/oauth2/v2.0/token`) {
        const form = Object.fromEntries(new URLSearchParams(body))
        demand(form.grant_type === 'client_credentials', 'Azure: the grant')
        demand(form.client_id === 'client' && form.client_secret === 'secret', 'Azure: the client')
        demand(form.scope?.endsWith('/.default') === true, 'Azure: the scope')
        return giveToken()
      }
      if (!isAuthorized(request)) return [401, { error: { code: 'Unauthorized' } }]
      if (method === 'GET' && path === '/keys/executor/v1?api-version=7.4')
        return [200, { key: { kid: 'k', kty: 'EC-HSM', crv: 'P-256K', x, y } }]
      demand(
        method === 'POST' && path === '/keys/executor/v1/sign?api-version=7.4',
        'Azure: the path',
      )
      const failure = failureOf(
        [429, { error: { code: 'Throttled' } }],
        [403, { error: { code: 'Forbidden' } }],
      )
      if (failure) return failure
      const { alg, value } = JSON.parse(body)
      demand(alg === 'ES256K', 'Azure: the algorithm')
      if (service.mode === 'nonsense') return [200, { value: 'AAAA' }]
      const { r, s } = await signature(hexOf(value, 'base64url'))
      return [200, { value: Buffer.concat([word(r), word(s)]).toString('base64url') }]
    },

    async turnkey({ method, path, headers, body }) {
      demand(
        method === 'POST' && path === '/public/v1/submit/sign_raw_payload',
        'Turnkey: the path',
      )
      demand(isStamped(headers['x-stamp'], body, turnkey.publicKey), 'Turnkey: the stamp')
      const { type, organizationId, timestampMs, parameters } = JSON.parse(body)
      demand(
        type === 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' && organizationId === 'o',
        'Turnkey: the activity',
      )
      demand(Math.abs(Date.now() - Number(timestampMs)) < 60_000, 'Turnkey: the time')
      const { signWith, payload, encoding, hashFunction } = parameters
      demand(signWith === account.address.toLowerCase(), 'Turnkey: the key')
      demand(
        encoding === 'PAYLOAD_ENCODING_HEXADECIMAL' && hashFunction === 'HASH_FUNCTION_NO_OP',
        'Turnkey: the encoding',
      )
      const failure = failureOf(
        [429, { code: 8, message: 'rate limited' }],
        [403, { code: 7, message: 'not allowed' }],
      )
      if (failure) return failure
      if (service.mode === 'nonsense')
        return [200, { activity: { status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', result: {} } }]
      const { r, s, v } = await signature(`0x${payload}`)
      const [rHex, sHex] = [r, s].map((number) => word(number).toString('hex'))
      const signRawPayloadResult = { r: rHex, s: sHex, v: `0${v - 27n}` }
      return [
        200,
        { activity: { status: 'ACTIVITY_STATUS_COMPLETED', result: { signRawPayloadResult } } },
      ]
    },

    async web3signer({ method, path, headers, body }) {
      demand(
        method === 'POST' && path === `/api/v1/eth1/sign/0x${account.publicKey.slice(4)}`,
        'web3signer: the path',
      )
      demand(headers.authorization === 'Basic secret', 'web3signer: the proxy')
      const failure = failureOf([503, 'busy'], [404, 'no such key'])
      if (failure) return failure
      if (service.mode === 'nonsense') return [200, '0x1234']
      const { r, s, v } = await signature(keccak256(JSON.parse(body).data))
      return [200, `0x${Buffer.concat([word(r), word(s), Buffer.of(Number(v))]).toString('hex')}`]
    },

    async jsonRpc({ method, path, headers, body }) {
      demand(method === 'POST' && path === '/rpc', 'JSON-RPC: the path')
      demand(headers['content-type'] === 'application/json', 'JSON-RPC: the content type')
      const { id, method: name, params, jsonrpc } = JSON.parse(body)
      demand(jsonrpc === '2.0' && name === 'eth_signTransaction', 'JSON-RPC: the call')
      const [asked] = params
      demand(asked.from === account.address.toLowerCase(), 'JSON-RPC: the sender')
      const failure = failureOf(
        [429, { id, error: { code: -32005, message: 'limit exceeded' } }],
        [
          200,
          { id, error: { code: -32000, message: 'authentication needed: password or unlock' } },
        ],
      )
      if (failure) return failure
      if (service.mode === 'nonsense') return [200, { id, result: '0x1234' }]
      const { gas, maxFeePerGas, maxPriorityFeePerGas, value, chainId, nonce, to, data } = asked
      const transaction = {
        ...{ type: 'eip1559' as const, to, data, chainId: Number(chainId), nonce: Number(nonce) },
        ...{
          gas: BigInt(gas),
          value: BigInt(value),
          maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
        },
        maxFeePerGas: BigInt(maxFeePerGas) + (service.mode === 'other fee' ? 1n : 0n),
      }
      const { r, s, v } = await signature(keccak256(serializeTransaction(transaction)))
      const numbers = { r: hexWord(r), s: hexWord(s), yParity: Number(v - 27n) }
      const raw = serializeTransaction(transaction, numbers)
      return [
        200,
        { jsonrpc: '2.0', id, result: service.asked.length % 2 === 0 ? raw : { raw, tx: {} } },
      ]
    },
  }

  async function der(hash: Hex): Promise<string> {
    if (service.mode === 'nonsense') return 'MAA='
    const { r, s } = await signature(hash)
    const body = Buffer.concat([integer(r), integer(s)])
    return Buffer.concat([Buffer.of(0x30, body.length), body]).toString('base64')
  }

  function kindOf({ path, headers }: Request): Kind {
    if (headers['x-amz-target'] !== undefined) return 'kms'
    if (path === '/rpc') return 'jsonRpc'
    if (path.startsWith('/api/')) return 'web3signer'
    if (path.startsWith('/public/')) return 'turnkey'
    return path.startsWith('/keys/') || path.includes('oauth2') ? 'azure' : 'gcp'
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', async () => {
      const { method = '', url: path = '', headers } = incoming
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() }
      const kind = kindOf(request)
      let answer: Answer
      try {
        answer = await routes[kind](request)
        service.asked.push(`${kind} ${headers['x-amz-target'] ?? path}`)
      } catch (error) {
        service.refused.push(String(error))
        answer = [400, { message: 'refused' }]
      }
      if (service.mode === 'slow') return
      const [status, body] = answer
      const isText = typeof body === 'string'
      response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' })
      response.end(isText ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const { address } = account
  const aws = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' }
  const clientSecret = { tenantId, clientId: 'client', clientSecret: 'secret', authority: url }
  const keys: { readonly [K in Kind]: ServiceKey } = {
    kms: {
      kind: 'kms',
      keyId: 'alias/executor',
      region: 'eu-central-1',
      endpoint: url,
      credentials: aws,
    },
    gcp: {
      kind: 'gcp',
      keyVersion,
      endpoint: url,
      credentials: {
        clientEmail: 'a@p.iam',
        privateKey: google.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        tokenUri: `${url}token`,
      },
    },
    azure: { kind: 'azure', keyId: `${url}keys/executor/v1`, credentials: clientSecret },
    turnkey: {
      kind: 'turnkey',
      organizationId: 'o',
      address: address.toLowerCase() as Hex,
      endpoint: url,
      credentials: { apiPrivateKey: apiPrivateKey.toString('hex') },
    },
    web3signer: {
      kind: 'web3signer',
      url,
      publicKey: `0x${account.publicKey.slice(4)}`,
      authorization: 'Basic secret',
    },
    jsonRpc: {
      kind: 'jsonRpc',
      url: `${url}rpc`,
      address: address.toLowerCase() as Hex,
      authorization: undefined,
      eip7702: false,
    },
  }
  const service: KeyService = {
    url,
    asked: [],
    refused: [],
    mode: 'low',
    revokeTokens: () => tokens.clear(),
    key: (kind) => keys[kind],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return service
}

function hexOf(text: string, encoding: 'base64' | 'base64url'): Hex {
  const bytes = Buffer.from(text, encoding)
  demand(bytes.length === 32, 'a digest has 32 bytes')
  return `0x${bytes.toString('hex')}`
}

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function hexWord(value: bigint): Hex {
  return `0x${word(value).toString('hex')}`
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  const content = (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Buffer.concat([Buffer.of(0x02, content.length), content])
}

/** AWS Signature Version 4, computed anew from the request. */
function isSignedForAws(headers: IncomingHttpHeaders, body: string): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=AKID\/(\d{8})\/eu-central-1\/kms\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (match === null) return false
  const [, date = '', names = '', signature] = match
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = ['POST', '/', '', lines.join(''), names, sha256(body)].join('\n')
  const scope = `${date}/eu-central-1/kms/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const hmac = (key: Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const steps = [date, 'eu-central-1', 'kms', 'aws4_request']
  const key = steps.reduce(hmac, Buffer.from('AWS4secret'))
  const isComplete = ['host', 'x-amz-date', 'x-amz-target', 'x-amz-security-token'].every((name) =>
    names.split(';').includes(name),
  )
  return isComplete && hmac(key, text).toString('hex') === signature
}

/** The stamp of an API key: a signature of P-256 over the whole body. */
function isStamped(stamp: unknown, body: string, publicKey: KeyObject): boolean {
  const text = Buffer.from(String(stamp), 'base64url').toString()
  const { publicKey: given, scheme, signature } = JSON.parse(text)
  const { x, y } = publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([
    Buffer.of(4),
    Buffer.from(x!, 'base64url'),
    Buffer.from(y!, 'base64url'),
  ])
  const compressed = ECDH.convertKey(point, 'prime256v1', undefined, 'hex', 'compressed')
  const isSigned = verify('sha256', Buffer.from(body), publicKey, Buffer.from(signature, 'hex'))
  return scheme === 'SIGNATURE_SCHEME_TK_API_P256' && given === compressed && isSigned
}
