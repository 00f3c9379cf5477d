import type { Address } from 'viem'
import { createTypedDataHash } from '../../encoding/typedDataHash.js'
import { hashedInitCode, splitDelegatedInitCode } from '../delegation.js'
import type { EntryPointContract } from '../entryPoint.js'
import { hashedPaymasterAndData } from '../paymasterSignature.js'
import { leastChargeAboveThreshold } from './leastExecutionCharge.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'

export function createEntryPointV09(address: Address): EntryPointContract {
  const typedDataHash = createTypedDataHash(address)
  return {
    ...packedEntryPoint(address, splitDelegatedInitCode),
    // A range of block numbers costs more than one of times.
    overhead: {
      fixed: 9_073,
      perOp: 7_749,
      range: 475,
      contextWord: 15,
      executeUserOp: { fixed: 1_640, perWord: 7 },
    },
    leastExecutionCharge: leastChargeAboveThreshold,
    hash: (op, chainId, delegate) => {
      const initCode = hashedInitCode(op, delegate)
      const signedByUser = hashedPaymasterAndData(paymasterAndData(op))
      return typedDataHash(hashedWords(op, initCode, signedByUser), chainId)
    },
  }
}
