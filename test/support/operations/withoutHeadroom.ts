import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import type { Operation } from '../../../src/erc4337/operation.js'

/**
 * What was measured of an estimate's verificationGasLimit (gas), before a margin was added for the real
 * signature and, on v0.6, for all that may be charged; for dummy signatures of one signer.
 */
export function withoutHeadroom(entryPoint: EntryPoint, op: Operation, contextSize = 0): bigint {
  const validated = { verificationGasUsed: op.verificationGasLimit, contextSize }
  const mostCharged = entryPoint.mostCharged(op, validated) ?? 0n
  const uncovered = mostCharged - entryPoint.chargeableGas(op)
  const limit = op.verificationGasLimit - (uncovered > 0n ? uncovered : 0n)
  const proportional = (limit * 100n + 114n) / 115n
  return limit - proportional > 10_000n ? proportional : limit - 10_000n
}
