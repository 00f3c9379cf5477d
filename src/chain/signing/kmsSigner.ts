import { secp256k1 } from '@noble/curves/secp256k1.js'
import { AwsClient } from 'aws4fetch'
import type { Address, Hex } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { numberToHex, recoverAddress } from 'viem/utils'
import { z } from 'zod'
import { SignerUnavailableError } from '../../base/errors/processErrors.js'
import { createSigner, type EcdsaSignature, type ExecutorSigner } from './executorTransaction.js'

export type KmsKey = {
  /** Id, ARN or alias of an asymmetric key, ECC_SECG_P256K1 for SIGN_VERIFY. */
  readonly keyId: string
  readonly region: string
  /** Absent = that of AWS for the region. */
  readonly endpoint: string | undefined
  readonly credentials: KmsCredentials
}

export type KmsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

/** Milliseconds that one answer may take. */
const PATIENCE = 10_000

/**
 * Signs with a key in AWS KMS, or in anything that speaks its JSON protocol (GetPublicKey, Sign). The
 * public key is asked for once, here.
 * @throws SignerUnavailableError when it does not answer or the key is of another kind
 */
export async function openKmsSigner(key: KmsKey): Promise<ExecutorSigner> {
  const ask = createAsk(key)
  const { PublicKey } = await ask('GetPublicKey', {}, z.object({ PublicKey: z.base64() }))
  const address = requireReadable(key, () =>
    publicKeyToAddress(readDerPublicKey(Buffer.from(PublicKey, 'base64'))),
  )
  return createSigner(address, async (digest) => {
    const request = {
      Message: Buffer.from(digest.slice(2), 'hex').toString('base64'),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    }
    const answer = await ask('Sign', request, z.object({ Signature: z.base64() }))
    const { r, s } = requireReadable(key, () =>
      readDerSignature(Buffer.from(answer.Signature, 'base64')),
    )
    const signature = await withParity(address, digest, {
      r: numberToHex(r, { size: 32 }),
      s: numberToHex(s, { size: 32 }),
    })
    if (!signature) throw new SignerUnavailableError(key.keyId, 'it signed with another key')
    return signature
  })
}

type Ask = <T>(action: string, fields: Record<string, string>, schema: z.ZodType<T>) => Promise<T>

function createAsk({ keyId, region, endpoint, credentials }: KmsKey): Ask {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 'kms',
    retries: 2,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  })
  const url = endpoint ?? `https://kms.${region}.amazonaws.com/`
  return async (action, fields, schema) => {
    try {
      const response = await client.fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': `TrentService.${action}`,
        },
        body: JSON.stringify({ KeyId: keyId, ...fields }),
        signal: AbortSignal.timeout(PATIENCE),
      })
      const body: unknown = await response.json()
      if (response.ok) return schema.parse(body)
      const { __type } = z.object({ __type: z.string().default('error') }).parse(body)
      throw new Error(`HTTP ${response.status} ${__type.split('#').at(-1)}`)
    } catch (cause) {
      if (cause instanceof z.ZodError || cause instanceof SyntaxError)
        throw new SignerUnavailableError(keyId, `it does not answer ${action} as KMS does`, cause)
      throw new SignerUnavailableError(keyId, `${action}: ${(cause as Error).message}`, cause)
    }
  }
}

function requireReadable<T>({ keyId }: KmsKey, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new SignerUnavailableError(keyId, (cause as Error).message, cause)
  }
}

/** KMS does not say which of the two keys that fit a signature is its own. */
async function withParity(
  address: Address,
  hash: Hex,
  numbers: Omit<EcdsaSignature, 'yParity'>,
): Promise<EcdsaSignature | undefined> {
  for (const yParity of [0, 1] as const) {
    const signature = { ...numbers, yParity }
    const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
    if (signer === address) return signature
  }
  return undefined
}

/**
 * The two numbers of an ECDSA signature in DER (RFC 3279). `s` comes back in the lower half of the
 * order: a signer may give either, a transaction may only have the lower.
 * @throws Error when it is no such signature of secp256k1
 */
export function readDerSignature(der: Uint8Array): { readonly r: bigint; readonly s: bigint } {
  try {
    const { r, s } = secp256k1.Signature.fromBytes(der, 'der')
    const { ORDER } = secp256k1.Point.Fn
    return { r, s: s > ORDER / 2n ? ORDER - s : s }
  } catch (cause) {
    throw new Error('the signature is no ECDSA signature in DER', { cause })
  }
}

/** DER of a SubjectPublicKeyInfo up to the key: id-ecPublicKey, secp256k1, BIT STRING (RFC 5480). */
const KEY_HEADER = '3056301006072a8648ce3d020106052b8104000a034200'

/**
 * The uncompressed key (65 bytes) in a SubjectPublicKeyInfo of secp256k1.
 * @throws Error when it is another kind of key
 */
export function readDerPublicKey(der: Uint8Array): Hex {
  const text = Buffer.from(der).toString('hex')
  const key = text.slice(KEY_HEADER.length)
  if (!text.startsWith(KEY_HEADER) || !/^04[0-9a-f]{128}$/.test(key))
    throw new Error('the public key is not one of the curve secp256k1')
  return `0x${key}`
}
