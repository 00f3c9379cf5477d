import { createPublicKey } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Hex } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

export type KeyService = {
  readonly url: string
  /** `X-Amz-Target` of every request that was signed as AWS asks. */
  readonly asked: string[]
  /** How it answers Sign: with s in either half, as another key, or not at all. */
  mode: 'low' | 'high' | 'other key' | 'throttled' | 'nonsense'
  stop(): Promise<void>
}

/** Speaks the JSON protocol of AWS KMS over one real key of secp256k1. */
export async function startKeyService(privateKey: Hex): Promise<KeyService> {
  const { publicKey } = privateKeyToAccount(privateKey)
  const spki = (key: Hex): string => {
    const part = (from: number) =>
      Buffer.from(key.slice(from, from + 64), 'hex').toString('base64url')
    const jwk = { kty: 'EC', crv: 'secp256k1', x: part(4), y: part(68) }
    const exported = createPublicKey({ key: jwk, format: 'jwk' })
    return exported.export({ type: 'spki', format: 'der' }).toString('base64')
  }
  const answer = async (
    target: string,
    body: Record<string, string>,
  ): Promise<[number, unknown]> => {
    const { mode } = service
    if (mode === 'throttled') return [400, { __type: 'ThrottlingException' }]
    if (mode === 'nonsense') return [200, { Signature: 'MAA=' }]
    if (target === 'TrentService.GetPublicKey') return [200, { PublicKey: spki(publicKey) }]
    const hash: Hex = `0x${Buffer.from(body.Message ?? '', 'base64').toString('hex')}`
    const key: Hex = mode === 'other key' ? `0x${'0f'.repeat(32)}` : privateKey
    const { r, s } = await sign({ hash, privateKey: key, to: 'object' })
    const low = BigInt(s) > order / 2n ? order - BigInt(s) : BigInt(s)
    return [200, { Signature: der(BigInt(r), mode === 'high' ? order - low : low) }]
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const target = String(request.headers['x-amz-target'])
      if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=AKID/'))
        service.asked.push(target)
      const [status, body] = await answer(target, JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      response.end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service: KeyService = {
    url: `http://127.0.0.1:${port}/`,
    asked: [],
    mode: 'low',
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return service
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  const content = (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Buffer.concat([Buffer.of(0x02, content.length), content])
}

function der(r: bigint, s: bigint): string {
  const body = Buffer.concat([integer(r), integer(s)])
  return Buffer.concat([Buffer.of(0x30, body.length), body]).toString('base64')
}
