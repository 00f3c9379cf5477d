import type { Hex } from 'viem'
import { z } from 'zod'
import { toHex } from '../../../evm/index.js'
import { encodeTransaction } from '../executorTransaction.js'
import { addressOfKey, readPlainSignature } from '../signature.js'
import { createAsk, type RemoteKey, requireReadable } from './remoteKey.js'

export type Web3SignerKey = {
  readonly kind: 'web3signer'
  readonly url: string
  /** Uncompressed, without its first byte: 64 bytes. */
  readonly publicKey: Hex
  /** The header Authorization, for a proxy before it. */
  readonly authorization: string | undefined
}

/**
 * A key in web3signer (`eth1`), by its REST interface: it hashes and signs any bytes, so transactions of EIP-7702
 * too, which its eth_signTransaction does not know.
 */
export function createWeb3SignerKey({ url, publicKey, authorization }: Web3SignerKey): RemoteKey {
  const key = `${publicKey.slice(0, 12)}…`
  const ask = createAsk(key, [url])
  const headers = {
    'content-type': 'application/json',
    accept: '*/*',
    ...(authorization !== undefined && { authorization }),
  }
  return {
    findAddress: async () => requireReadable(key, () => addressOf(publicKey)),
    async sign(_digest, transaction) {
      const request = {
        url: `${url.replace(/\/$/, '')}/api/v1/eth1/sign/${publicKey}`,
        headers,
        body: JSON.stringify({ data: toHex(encodeTransaction(transaction)) }),
      }
      const signature = await ask('sign', request, z.string().regex(/^0x[0-9a-f]+$/i))
      return requireReadable(key, () => readPlainSignature(Buffer.from(signature.slice(2), 'hex')))
    },
  }
}

function addressOf(publicKey: Hex) {
  const bytes = Buffer.from(publicKey.slice(2), 'hex')
  const [x, y] = [bytes.subarray(0, 32), bytes.subarray(32)].map((half) =>
    half.toString('base64url'),
  )
  return addressOfKey({ key: { kty: 'EC', crv: 'secp256k1', x: x!, y: y! }, format: 'jwk' })
}
