import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Address, Hex } from 'viem'
import { ConflictError } from '../base/errors/restErrors.js'
import type { EntryPoint, Version } from '../erc4337/entryPoint.js'
import {
  type BlockEnv,
  codeHash,
  type EvmMessage,
  keccak,
  type Miss,
  type State,
  toHex,
  type Touched,
} from '../evm/index.js'
import type { Extent } from './inProcess/observeOperation.js'
import { type CarriedBlock, packBlock, Wanted } from './threads/carriedBlock.js'

/**
 * Everything that one run depended on: the call, the block, and the state that it read, with code by its hash. The run
 * can be repeated from it alone.
 */
export type Witness = {
  readonly format: 1
  readonly entryPoint: { readonly version: Version; readonly address: Address }
  /** `bundle`: a mined transaction. Else handleOps with one operation, as `observeOperation` runs it. */
  readonly extent: 'bundle' | Extent
  readonly message: WitnessedMessage
  readonly state: CarriedBlock<Hex>
}

type WitnessedMessage = Omit<EvmMessage, 'data'> & { readonly data: Hex }

/** A witness, and the code that it names. */
export type WitnessedRun = {
  readonly witness: Witness
  readonly codes: ReadonlyMap<Hex, Uint8Array>
}

/** A run that has ended, on complete state. */
type EndedRun = {
  readonly entryPoint: EntryPoint
  readonly extent: Witness['extent']
  readonly message: EvmMessage
  readonly touched: Touched
  /** The blocks whose hash it asked for. */
  readonly blockHashes: ReadonlySet<bigint>
  /** The parts of its state that were pretended, for which nobody was asked. */
  readonly pretended?: readonly Miss[]
}

/** The witness of a run on `on`. */
export function takeWitness(
  on: { readonly block: BlockEnv; readonly state: State },
  { entryPoint, extent, message, touched, blockHashes, pretended = [] }: EndedRun,
): WitnessedRun {
  const codes = new Map<Hex, Uint8Array>()
  const wanted = new Wanted()
  wanted.add(touched)
  wanted.add(pretended)
  wanted.add([...blockHashes].map((number) => ({ kind: 'blockHash', number })))
  const { block: ran, state: read } = on
  const known: State & { readonly block: BlockEnv } = {
    block: ran,
    account: (address) => read.account(address),
    slot: (address, slot) => read.slot(address, slot),
  }
  const packed = packBlock(known, wanted, (code) => {
    const hash = codeHash(code)
    codes.set(hash, code)
    return hash
  })
  const { fork, calldataFloor, chainId, number, timestamp, slotNumber, ...block } = packed.block
  const { coinbase, gasLimit, prevRandao, baseFee, blobBaseFee, unknownPrecompiles, p256At } = block
  const state = {
    block: {
      fork,
      calldataFloor,
      chainId,
      number,
      timestamp,
      slotNumber,
      coinbase,
      gasLimit,
      prevRandao,
      baseFee,
      blobBaseFee,
      unknownPrecompiles,
      p256At,
    },
    accounts: packed.accounts.toSorted((a, b) => order(a.address, b.address)),
    slots: packed.slots.toSorted((a, b) => order(a[0] + a[1], b[0] + b[1])),
    blockHashes: packed.blockHashes.toSorted((a, b) => Number(a[0] - b[0])),
  }
  const { version, address } = entryPoint
  const called = { ...message, data: toHex(message.data) }
  const witness = { format: 1, entryPoint: { version, address }, extent, message: called, state }
  return { witness: witness as Witness, codes }
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1
}

/** A witness as it is stored. */
export type PackedWitness = {
  /** keccak256 of its canonical bytes. */
  readonly digest: Hex
  /** The canonical bytes, compressed. */
  readonly bytes: Uint8Array
}

/** The form in which a witness is stored: the same witness always has the same canonical bytes. */
export function packWitness(witness: Witness): PackedWitness {
  const canonical = Buffer.from(JSON.stringify(witness, toJson))
  return { digest: digestOf(canonical), bytes: deflateRawSync(canonical, { level: 9 }) }
}

/** Bytes of a witness at most: a bundle of the largest operations that reads 4,000 slots has some 5 MB. */
const LONGEST = 32 << 20

/** The witness that was packed. Throws ConflictError where one byte of its content is another. */
export function openWitness({ digest, bytes }: PackedWitness): Witness {
  let canonical: Buffer
  try {
    canonical = inflateRawSync(bytes, { maxOutputLength: LONGEST })
  } catch {
    throw new ConflictError('The witness of this run was changed: it cannot be read.')
  }
  if (digestOf(canonical) !== digest)
    throw new ConflictError(`The witness of this run was changed: its digest is not ${digest}.`)
  return JSON.parse(canonical.toString(), fromJson) as Witness
}

function digestOf(canonical: Uint8Array): Hex {
  return toHex(keccak(canonical))
}

function toJson(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  return value instanceof Set ? { set: [...value].sort() } : value
}

function fromJson(_: string, value: unknown): unknown {
  if (typeof value === 'string' && /^\d+n$/.test(value)) return BigInt(value.slice(0, -1))
  const { set } = (value ?? {}) as { readonly set?: readonly unknown[] }
  return Array.isArray(set) ? new Set(set) : value
}
