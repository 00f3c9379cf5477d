import type { Operation } from '../../erc4337/operation.js'
import { splitPaymasterSignature } from '../../erc4337/paymasterSignature.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import { type SigningDomain, signForTank, type TankSigner } from '../tank/signForTank.js'
import { sponsorshipHash } from '../tank/sponsorshipHash.js'
import { encodeLateTankData, encodeTankData } from '../tank/tankData.js'
import type { TankOperation } from '../tank/tankTypedData.js'

/**
 * `op`, which names its tank as paymaster, with the tank's paymasterData, in the form of the one it
 * has (late or not, see `encodeLateTankData`). Throws when `signer` does not hold its own key.
 */
export function signSponsorship(
  op: TankOperation,
  { entryPoint, chainId, delegate }: SigningDomain,
  range: TimeRange,
  signer: TankSigner,
): Operation {
  const hash = sponsorshipHash(op, entryPoint, chainId, range, delegate)
  const isLate = splitPaymasterSignature(op.paymasterData) !== undefined
  const encode = isLate ? encodeLateTankData : encodeTankData
  return { ...op, paymasterData: encode(range, signForTank(hash, op.paymaster, signer)) }
}
