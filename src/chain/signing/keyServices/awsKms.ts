import { AwsV4Signer } from 'aws4fetch'
import { z } from 'zod'
import { addressOfKey, readDerSignature } from '../signature.js'
import { createAsk, type RemoteKey, requireReadable } from './remoteKey.js'

export type AwsKey = {
  readonly kind: 'kms'
  /** Id, ARN or alias of an asymmetric key, ECC_SECG_P256K1 for SIGN_VERIFY. */
  readonly keyId: string
  readonly region: string
  /** Absent = that of AWS for the region. */
  readonly endpoint?: string | undefined
  readonly credentials: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken: string | undefined
  }
}

/** A key in AWS KMS, or in anything that speaks its JSON protocol (GetPublicKey, Sign). */
export function createAwsKey({ keyId, region, endpoint, credentials }: AwsKey): RemoteKey {
  const url = endpoint ?? `https://kms.${region}.amazonaws.com/`
  const ask = createAsk(keyId, [url])

  async function call<T>(
    action: string,
    fields: Readonly<Record<string, string>>,
    schema: z.ZodType<T>,
  ): Promise<T> {
    const body = JSON.stringify({ KeyId: keyId, ...fields })
    const { accessKeyId, secretAccessKey, sessionToken } = credentials
    const signed = await new AwsV4Signer({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      region,
      service: 'kms',
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `TrentService.${action}`,
      },
      body,
    }).sign()
    return ask(action, { url, headers: Object.fromEntries(signed.headers), body }, schema)
  }

  return {
    async findAddress() {
      const { PublicKey } = await call('GetPublicKey', {}, z.object({ PublicKey: z.base64() }))
      const key = Buffer.from(PublicKey, 'base64')
      return requireReadable(keyId, () => addressOfKey({ key, format: 'der', type: 'spki' }))
    },
    async sign(digest) {
      const fields = {
        Message: Buffer.from(digest.slice(2), 'hex').toString('base64'),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      }
      const { Signature } = await call('Sign', fields, z.object({ Signature: z.base64() }))
      return requireReadable(keyId, () => readDerSignature(Buffer.from(Signature, 'base64')))
    },
  }
}
