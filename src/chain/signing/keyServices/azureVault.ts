import { z } from 'zod'
import { addressOfKey, readPlainSignature } from '../signature.js'
import { createAsk, type RemoteKey, requireReadable, tokenSchema, withToken } from './remoteKey.js'

export type AzureKey = {
  readonly kind: 'azure'
  /** `https://VAULT.vault.azure.net/keys/NAME/VERSION`, EC or EC-HSM on the curve P-256K. */
  readonly keyId: string
  readonly credentials: {
    readonly tenantId: string
    readonly clientId: string
    readonly clientSecret: string
    /** `https://login.microsoftonline.com`, or that of another cloud. */
    readonly authority: string
  }
}

const VERSION = 'api-version=7.4'

/** A key in Azure Key Vault or a managed HSM. */
export function createAzureKey({ keyId, credentials }: AzureKey): RemoteKey {
  const { tenantId, clientId, clientSecret, authority } = credentials
  const tokenUrl = `${authority.replace(/\/$/, '')}/${tenantId}/oauth2/v2.0/token`
  const ask = createAsk(keyId, [keyId, tokenUrl])
  const authorized = withToken(() => {
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      grant_type: 'client_credentials',
      scope: scopeOf(keyId),
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return ask('token', { url: tokenUrl, headers, body: body.toString() }, tokenSchema)
  })
  return {
    async findAddress() {
      const point = z.object({ crv: z.literal('P-256K'), x: z.string(), y: z.string() })
      const { key } = await authorized((headers) =>
        ask('get', { url: `${keyId}?${VERSION}`, headers }, z.object({ key: point })),
      )
      const jwk = { kty: 'EC', crv: 'secp256k1', x: key.x, y: key.y }
      return requireReadable(keyId, () => addressOfKey({ key: jwk, format: 'jwk' }))
    },
    async sign(digest) {
      const value = Buffer.from(digest.slice(2), 'hex').toString('base64url')
      const body = JSON.stringify({ alg: 'ES256K', value })
      const signed = await authorized((token) => {
        const headers = { ...token, 'content-type': 'application/json' }
        const request = { url: `${keyId}/sign?${VERSION}`, headers, body }
        return ask('sign', request, z.object({ value: z.string() }))
      })
      return requireReadable(keyId, () =>
        readPlainSignature(Buffer.from(signed.value, 'base64url')),
      )
    },
  }
}

/** The resource for which a token is asked: the domain of the vault, without its name. */
function scopeOf(keyId: string): string {
  const { hostname } = new URL(keyId)
  return `https://${hostname.split('.').slice(1).join('.') || hostname}/.default`
}
