import type { Address, Hex } from 'viem'
import { bytesToHex, hexToBytes } from 'viem/utils'
import { signHash } from '../../chain/signing/localSigner.js'
import { keccak } from '../../erc4337/encoding/keccak.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { recoverKey } from '../../evm/index.js'
import { tryDecrypt } from '../../tenants/secrets.js'

/** The purpose that the key of a tank's signer is encrypted for. */
export const SIGNER_PURPOSE = 'tank signer'

/** Does the master key decrypt the key of the tank's signer? */
export function canSign(masterKey: Buffer, { signer_key }: { readonly signer_key: Buffer }) {
  return tryDecrypt(masterKey, SIGNER_PURPOSE, signer_key) !== undefined
}

export type TankSigner = { readonly address: Address; readonly key: Hex }

/** The place for which a tank signs an operation. */
export type SigningDomain = {
  readonly entryPoint: EntryPoint
  readonly chainId: number
  /** The address that the sender's code points to (EIP-7702), where the operation does not say. */
  readonly delegate?: Address | undefined
}

/**
 * The signature (r, s, v) of `tank`'s signer over a hash. It is read back before it leaves: one
 * that the tank would not take must not reach a client, nor reserve. Throws when the key is of
 * another signer.
 */
export function signForTank(hash: Hex, tank: Address, signer: TankSigner): Hex {
  const bytes = hexToBytes(hash)
  const { signature, recoveryId } = signHash(bytes, hexToBytes(signer.key))
  const publicKey = recoverKey(bytes, signature, recoveryId)
  if (publicKey === undefined || addressOf(publicKey) !== signer.address) {
    throw new Error(`the stored key of tank ${tank} is not that of its signer`)
  }
  return `${bytesToHex(signature)}${(recoveryId + 27).toString(16)}`
}

/** The address, lower case, of the 64 bytes of a public key. */
function addressOf(publicKey: Uint8Array): Address {
  return `0x${keccak(Buffer.from(publicKey).toString('hex')).slice(-40)}`
}
