import type { Hex } from 'viem'
import { greatest } from '../base/bigints.js'

/** Percent of what was measured. A Nexus needed 4.9 % more, a batched session router 6.9 %. */
const HEADROOM_PERCENT = 15n
/** Gas; more than LIM-030 asks for. */
const LEAST_HEADROOM = 10_000n
/**
 * Gas of one signer of several: recovery, a cold slot and the work around them. A Safe looks at no
 * further signature after a wrong one, and a dummy's first is wrong.
 */
const SIGNER_GAS = 8_000n
const SIGNER_BYTES = 65

/**
 * A verificationGasLimit (gas) for a real signature, of the one that a dummy `signature` needed: a wrong
 * signature may end a validation early. Never above `ceiling`. No EntryPoint charges for unused
 * verification gas; it only counts in the prefund.
 */
export function withHeadroom(measured: bigint, signature: Hex, ceiling: bigint): bigint {
  const share = (measured * HEADROOM_PERCENT) / 100n
  const signers = Math.floor((signature.length - 2) / 2 / SIGNER_BYTES)
  const further = SIGNER_GAS * BigInt(Math.max(signers - 1, 0))
  const ample =
    measured + greatest(share, LEAST_HEADROOM) + (further < measured ? further : measured)
  return ample < ceiling ? ample : ceiling
}
