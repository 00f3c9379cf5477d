import type { Address, Hex } from 'viem'
import { decodeParameters } from '../erc4337/encoding/decodeParameters.js'
import { type EvmLog, type FrameRecord, toHex } from '../evm/index.js'

/** An asset that changes hands in a run, or that its owner lets somebody else take. */
export type AssetMove = {
  readonly kind: 'transfer' | 'approval'
  readonly standard: 'NATIVE' | 'ERC20' | 'ERC721' | 'ERC1155'
  /** Undefined for the coin of the chain. */
  readonly token: Address | undefined
  readonly from: Address
  readonly to: Address
  /** Undefined where the standard has none. */
  readonly tokenId: bigint | undefined
  /** Smallest units; 1 for an ERC-721 token. */
  readonly amount: bigint
}

/** The address in whose name the chain logs transfers of its coin (EIP-7708), which the frames show as well. */
const COIN: Address = '0xfffffffffffffffffffffffffffffffffffffffe'

const word = [{ type: 'uint256' }] as const
const two = [{ type: 'uint256' }, { type: 'uint256' }] as const
const lists = [{ type: 'uint256[]' }, { type: 'uint256[]' }] as const

/** Topics: the hashes of Transfer, Approval, TransferSingle and TransferBatch. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

/**
 * The assets that a handleOps of one operation moves: first the coin, then the tokens in the order of their events. What
 * the sender pays the EntryPoint in validation, and the EntryPoint its beneficiary, is gas and not among them.
 */
export function assetMoves(
  root: FrameRecord,
  logs: readonly EvmLog[],
  entryPoint: Address,
): readonly AssetMove[] {
  const coins = root.calls.flatMap((frame) =>
    frame.from === entryPoint && frame.to === entryPoint
      ? coinMoves(frame.calls)
      : coinMoves(frame.calls).filter(({ to }) => to !== entryPoint),
  )
  return [...coins, ...logs.flatMap(tokenMoves)]
}

const coin = {
  kind: 'transfer',
  standard: 'NATIVE',
  token: undefined,
  tokenId: undefined,
} as const

function coinMoves(frames: readonly FrameRecord[]): AssetMove[] {
  return frames.flatMap((frame) =>
    frame.error === undefined ? [...coinMove(frame), ...coinMoves(frame.calls)] : [],
  )
}

/** The coin that a frame itself moves; none where it sends nothing. */
export function coinMove({ kind, from, to, value: amount }: FrameRecord): AssetMove[] {
  const isMove = amount > 0n && (kind === 'CALL' || kind === 'CREATE' || kind === 'CREATE2')
  return isMove ? [{ ...coin, from, to, amount }] : []
}

/** The moves that a log reports; none where it is no event of the standards, or not as they define it. */
export function tokenMoves({ address: token, topics, data: bytes }: EvmLog): AssetMove[] {
  const [topic, first = '0x', second = '0x', third = '0x'] = topics
  const data = toHex(bytes)
  if (token === COIN) return []
  if (topic === TRANSFER || topic === APPROVAL) {
    const kind = topic === TRANSFER ? 'transfer' : 'approval'
    const between = { kind, token, from: addressIn(first), to: addressIn(second) } as const
    if (topics.length === 4 && data === '0x')
      return [{ ...between, standard: 'ERC721', tokenId: BigInt(third), amount: 1n }]
    const [amount] = (topics.length === 3 && decodeParameters(word, data)) || []
    return amount === undefined
      ? []
      : [{ ...between, standard: 'ERC20', tokenId: undefined, amount }]
  }
  if (topics.length !== 4 || (topic !== SINGLE && topic !== BATCH)) return []
  const parties = { from: addressIn(second), to: addressIn(third) }
  const same = { kind: 'transfer', standard: 'ERC1155', token, ...parties } as const
  const [id, value] = (topic === SINGLE && decodeParameters(two, data)) || []
  if (id !== undefined && value !== undefined) return [{ ...same, tokenId: id, amount: value }]
  const [ids = [], values = []] = (topic === BATCH && decodeParameters(lists, data)) || []
  if (ids.length !== values.length) return []
  return ids.map((tokenId, at) => ({ ...same, tokenId, amount: values[at] ?? 0n }))
}

function addressIn(topic: Hex): Address {
  return `0x${topic.slice(-40).padStart(40, '0')}`
}
