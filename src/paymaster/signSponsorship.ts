import { type Address, bytesToHex, type Hex, hexToBytes } from 'viem'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { keccak } from '../entrypoint/keccak.js'
import type { Operation } from '../entrypoint/operation.js'
import { splitPaymasterSignature } from '../entrypoint/paymasterSignature.js'
import { recoverKey } from '../evm/index.js'
import { signHash } from '../signing/signHash.js'
import { encodeLateTankData, encodeTankData, sponsorshipHash, type TimeRange } from './tankData.js'

/** What the key of a tank's signer is stored for. */
export const signerPurpose = 'tank signer'

export type TankSigner = { readonly address: Address; readonly key: Hex }

/**
 * `op`, which names its tank as paymaster, with the tank's paymasterData, in the form of the one it
 * has (late or not, see `encodeLateTankData`). Its signature is read
 * back before it leaves: one that the tank would not take must not reach a client, nor reserve.
 * `delegate` is what the sender's code points to (EIP-7702), where the operation does not say.
 */
export const signSponsorship = (
  op: Operation & { readonly paymaster: Address },
  entryPoint: EntryPoint,
  chainId: number,
  range: TimeRange,
  signer: TankSigner,
  delegate?: Address,
): Operation => {
  const hash = hexToBytes(sponsorshipHash(op, entryPoint, chainId, range, delegate))
  const { signature, recoveryId } = signHash(hash, hexToBytes(signer.key))
  const publicKey = recoverKey(hash, signature, recoveryId)
  if (publicKey === undefined || addressOf(publicKey) !== signer.address) {
    throw new Error(`the stored key of tank ${op.paymaster} is not that of its signer`)
  }
  const v = recoveryId + 27
  const isLate = splitPaymasterSignature(op.paymasterData) !== undefined
  const encode = isLate ? encodeLateTankData : encodeTankData
  return { ...op, paymasterData: encode(range, `${bytesToHex(signature)}${v.toString(16)}`) }
}

/** Of the 64 bytes of a public key, lower case. */
const addressOf = (publicKey: Uint8Array): Address =>
  `0x${keccak(Buffer.from(publicKey).toString('hex')).slice(-40)}`
