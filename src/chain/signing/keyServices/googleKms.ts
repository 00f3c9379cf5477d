import { createSign } from 'node:crypto'
import { z } from 'zod'
import { unixNow } from '../../../base/unixNow.js'
import { addressOfKey, readDerSignature } from '../signature.js'
import { createAsk, type RemoteKey, requireReadable, tokenSchema, withToken } from './remoteKey.js'

/** The part of a service account's key file that signing in needs. */
export type GoogleAccount = {
  readonly clientEmail: string
  /** RSA, in PEM. */
  readonly privateKey: string
  readonly tokenUri: string
}

export type GoogleKey = {
  readonly kind: 'gcp'
  /** `projects/…/cryptoKeyVersions/N`, EC_SIGN_SECP256K1_SHA256. */
  readonly keyVersion: string
  readonly endpoint?: string | undefined
  /** A service account, or the host of the metadata server of the machine. */
  readonly credentials: GoogleAccount | { readonly metadataHost: string }
}

/** Seconds for which a token is asked, the most that Google grants. */
const TOKEN_LIFE = 3_600

/** A key in Google Cloud KMS. */
export function createGoogleKey({ keyVersion, endpoint, credentials }: GoogleKey): RemoteKey {
  const base = `${(endpoint ?? 'https://cloudkms.googleapis.com').replace(/\/$/, '')}/v1/${keyVersion}`
  const tokenUrl =
    'metadataHost' in credentials
      ? `http://${credentials.metadataHost}/computeMetadata/v1/instance/service-accounts/default/token`
      : credentials.tokenUri
  const ask = createAsk(keyVersion, [base, tokenUrl])
  const authorized = withToken(() => {
    if ('metadataHost' in credentials)
      return ask('token', { url: tokenUrl, headers: { 'metadata-flavor': 'Google' } }, tokenSchema)
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: requireReadable(keyVersion, () => assertionOf(credentials)),
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return ask('token', { url: tokenUrl, headers, body: body.toString() }, tokenSchema)
  })
  return {
    async findAddress() {
      const url = `${base}/publicKey`
      const { pem } = await authorized((headers) =>
        ask('publicKey', { url, headers }, z.object({ pem: z.string() })),
      )
      return requireReadable(keyVersion, () => addressOfKey(pem))
    },
    async sign(digest) {
      // The digest is named sha256 for the algorithm of the key; the service signs these 32 bytes as they are.
      const sha256 = Buffer.from(digest.slice(2), 'hex').toString('base64')
      const body = JSON.stringify({ digest: { sha256 } })
      const { signature } = await authorized((token) => {
        const headers = { ...token, 'content-type': 'application/json' }
        const request = { url: `${base}:asymmetricSign`, headers, body }
        return ask('asymmetricSign', request, z.object({ signature: z.base64() }))
      })
      return requireReadable(keyVersion, () => readDerSignature(Buffer.from(signature, 'base64')))
    },
  }
}

/** The JWT (RS256, RFC 7523) by which a service account asks for a token. */
function assertionOf({ clientEmail, privateKey, tokenUri }: GoogleAccount): string {
  const now = unixNow()
  const claims = {
    iss: clientEmail,
    scope: 'https://www.googleapis.com/auth/cloudkms',
    aud: tokenUri,
    iat: now,
    exp: now + TOKEN_LIFE,
  }
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createSign('sha256').update(text).sign(privateKey, 'base64url')}`
}
