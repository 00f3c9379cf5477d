import type { Address } from 'viem'
import { chargeOfUnused, leastChargeOfUnused } from '../charges.js'
import { keccak } from '../encoding/keccak.js'
import { boundHash } from '../encoding/typedDataHash.js'
import { joinEntity, splitEntity } from '../entity.js'
import type { EntryPointContract } from '../entryPoint.js'
import { packedEntryPoint } from './packedEntryPoint.js'
import { hashedWords, paymasterAndData } from './packedOperation.js'

export function createEntryPointV07(address: Address): EntryPointContract {
  return {
    ...packedEntryPoint(address, splitEntity),
    // Without MCOPY a context, and an operation for executeUserOp, are copied word by word.
    leastExecutionCharge: leastChargeOfUnused,
    unusedGasCharge: chargeOfUnused,
    hash: (op, chainId) => {
      const words = hashedWords(op, joinEntity(op.factory, op.factoryData), paymasterAndData(op))
      return boundHash(keccak(words), address, chainId)
    },
  }
}
