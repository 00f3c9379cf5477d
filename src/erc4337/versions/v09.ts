import type { Address } from 'viem'
import { chargeAboveThreshold, leastChargeAboveThreshold } from '../charges.js'
import { hashedInitCode, splitDelegatedInitCode } from '../delegation.js'
import { createTypedDataHash } from '../encoding/typedDataHash.js'
import type { EntryPointContract } from '../entryPoint.js'
import { hashedPaymasterAndData } from '../paymasterSignature.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'

export function createEntryPointV09(address: Address): EntryPointContract {
  const typedDataHash = createTypedDataHash(address)
  return {
    ...packedEntryPoint(address, splitDelegatedInitCode),
    // A range of block numbers costs more than one of times.
    leastExecutionCharge: leastChargeAboveThreshold,
    unusedGasCharge: chargeAboveThreshold,
    hash: (op, chainId, delegate) => {
      const initCode = hashedInitCode(op, delegate)
      const signedByUser = hashedPaymasterAndData(paymasterAndData(op))
      return typedDataHash(hashedWords(op, initCode, signedByUser), chainId)
    },
  }
}
