import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { bytesToHex, hexToBytes } from 'viem/utils'
import { createSigner, type ExecutorSigner } from './executorSigner.js'
import { signHash } from './signHash.js'
import type { TransactionType } from './transactionType.js'

/** Signs with a private key in this process. */
export function localSigner(privateKey: Hex, type: TransactionType = 'eip1559'): ExecutorSigner {
  const key = hexToBytes(privateKey)
  return createSigner(privateKeyToAddress(privateKey), type, async (hash) => {
    const { signature, recoveryId } = signHash(hexToBytes(hash), key)
    const [r, s] = [signature.subarray(0, 32), signature.subarray(32)].map((half) =>
      bytesToHex(half),
    ) as [Hex, Hex]
    return { r, s, yParity: recoveryId }
  })
}
