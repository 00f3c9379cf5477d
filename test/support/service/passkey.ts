import { createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { bytesToHex, hexToBytes, slice } from 'viem'
import { toWebAuthnAccount, type WebAuthnAccount } from 'viem/account-abstraction'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'

const RELYING_PARTY = 'localhost'
/** The user is present and was verified. */
const FLAGS = 0b101

function sha256(data: Uint8Array | string): Uint8Array {
  return createHash('sha256').update(data).digest()
}

/** The copy of the bytes alone that WebAuthn gives. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}

/** A passkey in software: viem's account of WebAuthn, whose authenticator is a key of P-256 made of the seed. */
export function passkeyOf(seed: string): WebAuthnAccount {
  const key = hexToBytes(keyFromSeed(seed))
  const id = Buffer.from(seed).toString('base64url')
  // The client wants x and y, without the byte of the format.
  const publicKey = slice(bytesToHex(p256.getPublicKey(key, false)), 1)
  const getFn = async (options?: { publicKey?: { challenge: unknown } | undefined }) => {
    const challenge = Buffer.from(options!.publicKey!.challenge as ArrayBuffer)
    const clientData = JSON.stringify({
      type: 'webauthn.get',
      challenge: challenge.toString('base64url'),
      origin: `http://${RELYING_PARTY}`,
      crossOrigin: false,
    })
    const counter = [0, 0, 0, 0]
    const authenticatorData = Uint8Array.from([...sha256(RELYING_PARTY), FLAGS, ...counter])
    const signed = Uint8Array.from([...authenticatorData, ...sha256(clientData)])
    const response = {
      authenticatorData: bufferOf(authenticatorData),
      clientDataJSON: bufferOf(new TextEncoder().encode(clientData)),
      signature: bufferOf(p256.sign(signed, key, { format: 'der' })),
    }
    return { id, type: 'public-key', response }
  }
  return toWebAuthnAccount({ credential: { id, publicKey }, getFn, rpId: RELYING_PARTY })
}
