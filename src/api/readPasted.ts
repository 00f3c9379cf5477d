import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { TriedOperation } from '../policy/tryPolicy.js'
import type { PastedOperation } from '../records/tryOnRecords.js'
import { type DecodeContext, decodeEntryPoint } from './dialects/decode/entryPoint.js'
import { decodePartialOperation } from './dialects/decode/operation.js'
import { inferEntryPoint } from './dialects/decode/paymasterRequest.js'

/** An operation as it is written in JSON, for a policy to be tried on. Throws InvalidParamsError, UnsupportedEntryPointError. */
export function readPasted(
  { entryPoint: named, operation }: PastedOperation,
  chain: DecodeContext,
): TriedOperation {
  const entryPoint =
    named === undefined
      ? inferEntryPoint(operation, chain)
      : decodeEntryPoint(named, 'entryPoint', chain)
  const draft = decodePartialOperation(operation, 'operation', entryPoint.version)
  const { sender, maxFeePerGas } = draft
  return { chainId: chain.chainId, sender, draft, maxFeePerGas, maxCost: costOf(draft, entryPoint) }
}

/** The wei that a sponsorship would reserve, where limits and fee are said. */
function costOf(draft: Draft, entryPoint: EntryPoint): bigint | undefined {
  const { callGasLimit, verificationGasLimit, preVerificationGas, maxFeePerGas } = draft
  if (callGasLimit === undefined || verificationGasLimit === undefined) return undefined
  if (preVerificationGas === undefined || maxFeePerGas === undefined) return undefined
  const { paymasterVerificationGasLimit = 0n, paymasterPostOpGasLimit = 0n } = draft
  return entryPoint.requiredPrefund({
    ...draft,
    callGasLimit,
    verificationGasLimit,
    preVerificationGas,
    maxFeePerGas,
    maxPriorityFeePerGas: draft.maxPriorityFeePerGas ?? 0n,
    paymasterVerificationGasLimit,
    paymasterPostOpGasLimit,
    // Any tank: limits of an operation that somebody else pays may count more than once.
    paymaster: entryPoint.address,
  })
}
