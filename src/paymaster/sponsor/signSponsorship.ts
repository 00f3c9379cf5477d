import type { Address } from 'viem'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { splitPaymasterSignature } from '../../entrypoint/paymasterSignature.js'
import type { TimeRange } from '../../entrypoint/validationData.js'
import { signForTank, type TankSigner } from '../tank/signForTank.js'
import { encodeLateTankData, encodeTankData, sponsorshipHash } from '../tank/tankData.js'

/**
 * `op`, which names its tank as paymaster, with the tank's paymasterData, in the form of the one it
 * has (late or not, see `encodeLateTankData`).
 * `delegate` is what the sender's code points to (EIP-7702), where the operation does not say.
 */
export function signSponsorship(
  op: Operation & { readonly paymaster: Address },
  entryPoint: EntryPoint,
  chainId: number,
  range: TimeRange,
  signer: TankSigner,
  delegate?: Address,
): Operation {
  const hash = sponsorshipHash(op, entryPoint, chainId, range, delegate)
  const isLate = splitPaymasterSignature(op.paymasterData) !== undefined
  const encode = isLate ? encodeLateTankData : encodeTankData
  return { ...op, paymasterData: encode(range, signForTank(hash, op.paymaster, signer)) }
}
