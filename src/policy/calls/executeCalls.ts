import { decodeParameters } from '../../encoding/decodeParameters.js'
import { plainCall, type ReadCalls, zipCalls } from './call.js'

/*
 * Forms that many accounts share: SimpleAccount of every version, Light Account, Coinbase Smart
 * Wallet, Biconomy V2 and Kernel v2.
 */

const single = [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }] as const

/** execute(address,uint256,bytes) */
export const readExecute: ReadCalls = (args) => {
  const decoded = decodeParameters(single, args)
  return decoded && [plainCall(...decoded)]
}

/** executeBatch(address[],bytes[]), SimpleAccount v0.6: no values */
export const readBatchWithoutValues: ReadCalls = (args) => {
  const decoded = decodeParameters([{ type: 'address[]' }, { type: 'bytes[]' }], args)
  if (decoded === undefined) return undefined
  const [targets, datas] = decoded
  const values = targets.map(() => 0n)
  return zipCalls(targets, values, datas)
}

/** executeBatch(address[],uint256[],bytes[]); SimpleAccount v0.7 takes no values as zeros */
export const readBatch: ReadCalls = (args) => {
  const decoded = decodeParameters(
    [{ type: 'address[]' }, { type: 'uint256[]' }, { type: 'bytes[]' }],
    args,
  )
  if (decoded === undefined) return undefined
  const [targets, values, datas] = decoded
  return zipCalls(targets, values.length === 0 ? targets.map(() => 0n) : values, datas)
}

export const callStructs = [
  {
    type: 'tuple[]',
    components: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const

/** executeBatch((address,uint256,bytes)[]) */
export const readBatchOfStructs: ReadCalls = (args) => {
  const [calls] = decodeParameters(callStructs, args) ?? []
  return calls?.map(({ to, value, data }) => plainCall(to, value, data))
}

/** executeDelegateCall(address,bytes), Kernel v2 */
export const readDelegateCall: ReadCalls = (args) => {
  const decoded = decodeParameters([{ type: 'address' }, { type: 'bytes' }], args)
  if (decoded === undefined) return undefined
  const [to, data] = decoded
  return [{ ...plainCall(to, 0n, data), delegate: true }]
}
