import type { Version } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'

type Limits = Pick<Operation, 'callGasLimit' | 'paymaster' | 'paymasterPostOpGasLimit'>

/**
 * Gas that the contract charges for the gas which an operation's execution leaves unused, as its source says: v0.7 in
 * `_postExecution`, v0.8 and v0.9 in `_getUnusedGasPenalty`. The second charge of these for postOp, which not all
 * contexts bring, is left out.
 */
export function unusedGasCharge(version: Version, limits: Limits, used: bigint): bigint {
  const { callGasLimit, paymaster, paymasterPostOpGasLimit } = limits
  if (version === '0.6') return 0n
  const postOp = version === '0.7' && paymaster !== undefined ? paymasterPostOpGasLimit : 0n
  const unused = callGasLimit + postOp - used
  const free = version === '0.7' ? 0n : 40_000n
  return unused <= free ? 0n : (unused * 10n) / 100n
}
