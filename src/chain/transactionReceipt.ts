import type { Address, Hex } from 'viem'
import type { Log } from '../entrypoint/entryPoint.js'

/** A bundle's transaction receipt as nodes give it, quantities decoded. */
export type TransactionReceipt = {
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly from: Address
  readonly to: Address | null
  readonly contractAddress: Address | null
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  readonly effectiveGasPrice: bigint
  readonly logs: readonly Log[]
  readonly logsBloom: Hex
  readonly status: number
  readonly type: number
  /** wei that a rollup took beside gas for the transaction's bytes; absent elsewhere. */
  readonly l1Fee?: bigint | undefined
  /** The terms of the OP stack's operator fee, which comes on top (Isthmus, Jovian). */
  readonly operatorFee?:
    | { readonly rule: 'isthmus' | 'jovian'; readonly scalar: bigint; readonly constant: bigint }
    | undefined
}

/** A log as JSON-RPC carries it. */
export type RawLog = {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly logIndex: Hex
}

/** A receipt as JSON-RPC carries it. Nodes without EIP-1559 give no `effectiveGasPrice`, those without EIP-2718 no `type`. */
export type RawReceipt = {
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly blockHash: Hex
  readonly blockNumber: Hex
  readonly from: Address
  readonly to: Address | null
  readonly contractAddress?: Address | null
  readonly cumulativeGasUsed: Hex
  readonly gasUsed: Hex
  readonly effectiveGasPrice?: Hex | null
  readonly logs: readonly RawLog[]
  readonly logsBloom: Hex
  readonly status?: Hex
  readonly type?: Hex
  readonly l1Fee?: Hex | null
  readonly operatorFeeScalar?: Hex | null
  readonly operatorFeeConstant?: Hex | null
  /** From Jovian on. */
  readonly daFootprintGasScalar?: Hex | null
}

export function decodeLog(raw: RawLog): Log {
  return {
    address: lower(raw.address),
    topics: raw.topics.map(lower),
    data: lower(raw.data),
    blockNumber: BigInt(raw.blockNumber),
    blockHash: lower(raw.blockHash),
    transactionHash: lower(raw.transactionHash),
    transactionIndex: Number(raw.transactionIndex),
    logIndex: Number(raw.logIndex),
  }
}

/** @param raw with the price, see `decodeReceipts` */
export function decodeReceipt(
  raw: RawReceipt & { readonly effectiveGasPrice: Hex },
): TransactionReceipt {
  return {
    transactionHash: lower(raw.transactionHash),
    transactionIndex: Number(raw.transactionIndex),
    blockHash: lower(raw.blockHash),
    blockNumber: BigInt(raw.blockNumber),
    from: lower(raw.from),
    to: raw.to ? lower(raw.to) : null,
    contractAddress: raw.contractAddress ? lower(raw.contractAddress) : null,
    cumulativeGasUsed: BigInt(raw.cumulativeGasUsed),
    gasUsed: BigInt(raw.gasUsed),
    effectiveGasPrice: BigInt(raw.effectiveGasPrice),
    logs: raw.logs.map(decodeLog),
    logsBloom: lower(raw.logsBloom),
    status: Number(raw.status ?? 1),
    type: Number(raw.type ?? 0),
    ...decodeDataFee(raw),
  }
}

function decodeDataFee({
  l1Fee,
  operatorFeeScalar,
  operatorFeeConstant,
  daFootprintGasScalar,
}: RawReceipt): Pick<TransactionReceipt, 'l1Fee' | 'operatorFee'> {
  if (l1Fee === undefined || l1Fee === null) return {}
  const rule = daFootprintGasScalar ? 'jovian' : 'isthmus'
  const [scalar, constant] = [BigInt(operatorFeeScalar ?? 0), BigInt(operatorFeeConstant ?? 0)]
  return { l1Fee: BigInt(l1Fee), operatorFee: { rule, scalar, constant } }
}

function lower<T extends string>(hex: T): T {
  return hex.toLowerCase() as T
}
