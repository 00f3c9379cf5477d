import type { Address, Hex } from 'viem'
import type { Log } from '../erc4337/entryPoint.js'
import { NodeUnavailableError } from './nodeErrors.js'

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
  /** Gas of `gasUsed` that is the fee for data on layer 1 (Arbitrum); absent elsewhere. */
  readonly gasUsedForL1?: bigint | undefined
  /** wei that a rollup charged for the transaction's bytes on top of gas; absent elsewhere. */
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

/** A receipt as JSON-RPC carries it. */
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
  readonly effectiveGasPrice: Hex
  readonly logs: readonly RawLog[]
  readonly logsBloom: Hex
  readonly status?: Hex
  readonly type?: Hex
  readonly gasUsedForL1?: Hex | null
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

/** @throws NodeUnavailableError for one without its price, by which a bundle would be booked as free */
export function decodeReceipt(raw: RawReceipt): TransactionReceipt {
  if (!raw.effectiveGasPrice) throw new NodeUnavailableError('its receipts lack effectiveGasPrice')
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
    ...(raw.gasUsedForL1 && { gasUsedForL1: BigInt(raw.gasUsedForL1) }),
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
