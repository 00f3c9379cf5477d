import type { Address } from 'viem'
import { keccak } from '../../encoding/keccak.js'
import { joinEntity, splitEntity } from '../entity.js'
import type { EntryPointContract } from '../entryPoint.js'
import { boundHash } from './boundHash.js'
import { leastChargeOfUnused } from './leastExecutionCharge.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'

export function createEntryPointV07(address: Address): EntryPointContract {
  return {
    ...packedEntryPoint(address, splitEntity),
    // Without MCOPY a context, and an operation for executeUserOp, are copied word by word.
    overhead: {
      fixed: 11_262,
      perOp: 7_836,
      range: 365,
      contextWord: 82,
      executeUserOp: { fixed: 1_600, perWord: 69 },
    },
    leastExecutionCharge: leastChargeOfUnused,
    hash: (op, chainId) => {
      const words = hashedWords(op, joinEntity(op.factory, op.factoryData), paymasterAndData(op))
      return boundHash(keccak(words), address, chainId)
    },
  }
}
