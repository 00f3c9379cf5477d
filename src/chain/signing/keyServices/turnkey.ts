import { createECDH, createPrivateKey, createSign } from 'node:crypto'
import type { Address } from 'viem'
import { z } from 'zod'
import { SignerUnavailableError } from '../../../base/errors/processErrors.js'
import { readPlainSignature } from '../signature.js'
import { createAsk, type RemoteKey, requireReadable } from './remoteKey.js'

export type TurnkeyKey = {
  readonly kind: 'turnkey'
  readonly organizationId: string
  /** Of a wallet account or private key of the organization. */
  readonly address: Address
  readonly endpoint?: string | undefined
  /** Of the API, a key of P-256: hex digits, without 0x. */
  readonly credentials: { readonly apiPrivateKey: string }
}

const signed = z.object({
  activity: z.object({
    status: z.string(),
    result: z
      .object({ signRawPayloadResult: z.object({ r: z.hex(), s: z.hex() }).optional() })
      .optional(),
  }),
})

/** A key at Turnkey. A policy that asks for the consent of people makes it unavailable: nobody waits for that. */
export function createTurnkeyKey({
  organizationId,
  address,
  endpoint,
  credentials,
}: TurnkeyKey): RemoteKey {
  const url = `${(endpoint ?? 'https://api.turnkey.com').replace(/\/$/, '')}/public/v1/submit/sign_raw_payload`
  const ask = createAsk(address, [url])
  return {
    findAddress: undefined,
    async sign(digest) {
      const body = JSON.stringify({
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: {
          signWith: address,
          payload: digest.slice(2),
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        },
      })
      const stamp = requireReadable(address, () => stampOf(credentials.apiPrivateKey, body))
      const headers = { 'content-type': 'application/json', 'x-stamp': stamp }
      const { activity } = await ask('sign_raw_payload', { url, headers, body }, signed)
      const result = activity.result?.signRawPayloadResult
      if (result === undefined)
        throw new SignerUnavailableError(address, `sign_raw_payload: ${activity.status}`)
      return requireReadable(address, () =>
        readPlainSignature(
          Buffer.from(result.r.padStart(64, '0') + result.s.padStart(64, '0'), 'hex'),
        ),
      )
    },
  }
}

/** The header X-Stamp: a signature of the whole body by the key of the API. */
function stampOf(apiPrivateKey: string, body: string): string {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(apiPrivateKey, 'hex')
  const point = pair.getPublicKey()
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) =>
    half.toString('base64url'),
  )
  const d = pair.getPrivateKey().toString('base64url')
  const key = createPrivateKey({
    key: { kty: 'EC', crv: 'P-256', x: x!, y: y!, d },
    format: 'jwk',
  })
  const stamp = {
    publicKey: pair.getPublicKey('hex', 'compressed'),
    scheme: 'SIGNATURE_SCHEME_TK_API_P256',
    signature: createSign('sha256').update(body).sign(key, 'hex'),
  }
  return Buffer.from(JSON.stringify(stamp)).toString('base64url')
}
