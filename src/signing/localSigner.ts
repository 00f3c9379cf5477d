import { type Hex, numberToHex } from 'viem'
import { privateKeyToAddress, sign } from 'viem/accounts'
import { createSigner, type ExecutorSigner } from './executorSigner.js'

/** Signs with a private key in this process. */
export const localSigner = (privateKey: Hex): ExecutorSigner =>
  createSigner(privateKeyToAddress(privateKey), async (hash) => {
    const { r, s, yParity } = await sign({ hash, privateKey, to: 'object' })
    return {
      r: numberToHex(BigInt(r), { size: 32 }),
      s: numberToHex(BigInt(s), { size: 32 }),
      yParity: yParity === 1 ? 1 : 0,
    }
  })
