import { decodeAbiParameters } from 'viem/utils'
import { plainCall, type ReadCalls, zipCalls } from './call.js'

/*
 * Forms that many accounts share: SimpleAccount of every version, Light Account, Coinbase Smart
 * Wallet, Biconomy V2 and Kernel v2.
 */

const single = [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }] as const

/** execute(address,uint256,bytes) */
export const readExecute: ReadCalls = (args) => {
  const [to, value, data] = decodeAbiParameters(single, args)
  return [plainCall(to, value, data)]
}

/** executeBatch(address[],bytes[]), SimpleAccount v0.6: no values */
export const readBatchWithoutValues: ReadCalls = (args) => {
  const [targets, datas] = decodeAbiParameters([{ type: 'address[]' }, { type: 'bytes[]' }], args)
  const values = targets.map(() => 0n)
  return zipCalls(targets, values, datas)
}

/** executeBatch(address[],uint256[],bytes[]); SimpleAccount v0.7 takes no values as zeros */
export const readBatch: ReadCalls = (args) => {
  const [targets, values, datas] = decodeAbiParameters(
    [{ type: 'address[]' }, { type: 'uint256[]' }, { type: 'bytes[]' }],
    args,
  )
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
  const [calls] = decodeAbiParameters(callStructs, args)
  return calls.map(({ to, value, data }) => plainCall(to, value, data))
}

/** executeDelegateCall(address,bytes), Kernel v2 */
export const readDelegateCall: ReadCalls = (args) => {
  const [to, data] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], args)
  return [{ ...plainCall(to, 0n, data), delegate: true }]
}
