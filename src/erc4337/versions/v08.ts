import type { Address } from 'viem'
import { chargeAboveThreshold, leastChargeAboveThreshold } from '../charges.js'
import { hashedInitCode, splitDelegatedInitCode } from '../delegation.js'
import { createTypedDataHash } from '../encoding/typedDataHash.js'
import type { EntryPointContract } from '../entryPoint.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'

export function createEntryPointV08(address: Address): EntryPointContract {
  const typedDataHash = createTypedDataHash(address)
  return {
    ...packedEntryPoint(address, splitDelegatedInitCode),
    leastExecutionCharge: leastChargeAboveThreshold,
    unusedGasCharge: chargeAboveThreshold,
    hash: (op, chainId, delegate) =>
      typedDataHash(hashedWords(op, hashedInitCode(op, delegate), paymasterAndData(op)), chainId),
  }
}
