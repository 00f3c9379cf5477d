import type { Address } from 'viem'
import { hashedInitCode, splitDelegatedInitCode } from './delegation.js'
import type { EntryPoint } from './entryPoint.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'
import { createTypedDataHash } from './typedDataHash.js'

export const createEntryPointV08 = (address: Address): EntryPoint => {
  const typedDataHash = createTypedDataHash(address)
  return {
    ...packedEntryPoint(address, splitDelegatedInitCode),
    version: '0.8',
    overhead: { fixed: 11_657, perOp: 7_601 },
    hash: (op, chainId, delegate) =>
      typedDataHash(hashedWords(op, hashedInitCode(op, delegate), paymasterAndData(op)), chainId),
  }
}
