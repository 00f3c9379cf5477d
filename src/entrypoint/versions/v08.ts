import type { Address } from 'viem'
import { createTypedDataHash } from '../../encoding/typedDataHash.js'
import { hashedInitCode, splitDelegatedInitCode } from '../delegation.js'
import type { EntryPointContract } from '../entryPoint.js'
import { leastChargeAboveThreshold } from './leastExecutionCharge.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'

export function createEntryPointV08(address: Address): EntryPointContract {
  const typedDataHash = createTypedDataHash(address)
  return {
    ...packedEntryPoint(address, splitDelegatedInitCode),
    overhead: {
      fixed: 9_157,
      perOp: 7_601,
      range: 370,
      contextWord: 15,
      executeUserOp: { fixed: 1_640, perWord: 7 },
    },
    leastExecutionCharge: leastChargeAboveThreshold,
    hash: (op, chainId, delegate) =>
      typedDataHash(hashedWords(op, hashedInitCode(op, delegate), paymasterAndData(op)), chainId),
  }
}
