import type { Address, Hex } from 'viem'
import type { BlockEnv } from '../block.js'
import { toBytes, toHex } from '../bytes/hex.js'
import { type Rules, rulesByFork } from '../forks.js'
import { WARM_ACCESS } from '../gasCosts.js'
import { type Precompile, precompilesOf } from '../precompiles/index.js'
import type { EvmAccount } from '../state/account.js'
import type { State } from '../state/state.js'
import { type OnMiss, World } from '../state/world.js'
import { Frame } from './frame.js'
import type { GasBudget } from './gasBudget.js'
import {
  ENTRY_BYTES,
  type EvmLog,
  type ExecutionRecord,
  type FrameRecord,
  MAX_RECORD_BYTES,
  type Preimage,
} from './record.js'
import type { Signal } from './signal.js'
import type { Inspector } from './inspector.js'

export type { EvmLog }

/** The end of the outermost message. */
type MessageEnd = GasBudget & { signal: Signal; output: Uint8Array }

/** The state, the block and the bounds with which a message is run. */
export type EvmContext = {
  state: State
  block: BlockEnv
  /** See `OnMiss`: 'guess' finds every miss of a speculative run, 'stop' only the first. */
  onMiss: OnMiss
  /** Whether to collect an `ExecutionRecord`. */
  record: boolean
  /** Whether the record keeps inputs and outputs whole, and has the logs and the written values of each frame. */
  detail?: boolean | undefined
  /**
   * Most instructions to execute. Calls, long words and precompiles count as the steps that take
   * as long, so that a million steps last some 10 to 100 ms whatever the code does. Validating a
   * SimpleAccount operation takes about 7,000.
   */
  maxSteps: number
  inspector?: Inspector | undefined
}

/** An instruction outside the interpreter's own loop. Its fixed gas is already paid. */
export type Handler = (machine: Machine, frame: Frame, op: number) => Signal

/** The instructions of one fork, by opcode. */
export type InstructionTable = {
  /** Fixed gas. */
  gas: Uint16Array
  /** Fewest words that may be on the stack; more than it holds for an unassigned opcode. */
  least: Uint16Array
  /** Most words that may be on the stack. */
  most: Uint16Array
  /** Undefined for unassigned opcodes and for those that the interpreter runs itself. */
  handlers: readonly (Handler | undefined)[]
}

/** The parts of one run: world, tables of the fork, frames, logs and record. */
export class Machine {
  readonly world: World
  readonly block: BlockEnv
  readonly rules: Rules
  readonly table: InstructionTable
  readonly origin: EvmAccount
  readonly gasPrice: bigint
  readonly blobHashes: readonly Hex[]
  readonly coinbase: EvmAccount
  /** Frames by depth, reused by later runs. */
  readonly frames: Frame[]
  /** Depth of the running frame; -1 when none runs. */
  depth = -1
  readonly maxSteps: number
  stepsLeft: number
  logs: EvmLog[] = []
  /** False from the start, or once the record has grown too large: there is none then. */
  recording: boolean
  readonly detail: boolean
  readonly inspector: Inspector | undefined
  root: FrameRecord | undefined
  preimages: Preimage[] = []
  outOfGas = false
  #recordLeft = MAX_RECORD_BYTES
  end: MessageEnd | undefined

  constructor(
    context: EvmContext,
    table: InstructionTable,
    origin: Address,
    gasPrice: bigint,
    blobHashes: readonly Hex[],
  ) {
    const { block } = context
    this.block = block
    this.rules = rulesByFork[block.fork]
    this.world = new World(context.state, context.onMiss, precompilesFor(block))
    this.table = table
    this.origin = this.world.account(origin)
    this.gasPrice = gasPrice
    this.blobHashes = blobHashes
    this.coinbase = this.world.account(block.coinbase)
    this.maxSteps = context.maxSteps
    this.stepsLeft = context.maxSteps
    this.recording = context.record
    this.detail = context.detail === true
    this.inspector = context.inspector
    this.frames = idle.pop() ?? []
  }

  /** The frame of the given depth. */
  frameAt(depth: number): Frame {
    let frame = this.frames[depth]
    if (frame === undefined) {
      frame = new Frame()
      this.frames[depth] = frame
    }
    return frame
  }

  /** EIP-2929 cost of touching an account, which makes it warm. */
  accessCost(account: EvmAccount): number {
    if (account.warm) return WARM_ACCESS
    this.world.warm(account)
    return this.rules.gas.coldAccount
  }

  /** Adds a log, which goes again when the frame fails. */
  addLog(log: EvmLog): void {
    const detail = this.depth < 0 ? undefined : this.frameAt(this.depth).record?.detail
    if (detail !== undefined && this.canRecord(ENTRY_BYTES + log.data.length)) detail.logs.push(log)
    this.logs.push(log)
    this.world.onRollback(() => this.logs.pop())
  }

  /** Moves wei; from EIP-7708 on that leaves a log. */
  transfer(from: EvmAccount, to: EvmAccount, value: bigint): void {
    this.world.transfer(from, to, value)
    if (!this.rules.transferLogs || value === 0n || from === to) return
    const topics = [
      TRANSFER,
      ...[from, to].map(({ address }) => toHex(toBytes(BigInt(address), 32))),
    ]
    this.addLog({ address: SYSTEM, topics, data: toBytes(value, 32) })
  }

  /** The account an EIP-7702 designator points to. */
  delegateOf(account: EvmAccount): EvmAccount | undefined {
    const { delegate } = this.world.load(account).code
    if (delegate === undefined || !this.rules.delegation) return undefined
    const limbs = new Uint32Array(5)
    const view = new DataView(delegate.buffer, delegate.byteOffset)
    for (let i = 0; i < 5; i++) limbs[i] = view.getUint32(16 - 4 * i)
    return this.world.at(limbs, 0)
  }

  /** Whether there is a record that may grow by `bytes`. One that may not is given up. */
  canRecord(bytes: number): boolean {
    if (!this.recording) return false
    this.#recordLeft -= bytes
    if (this.#recordLeft >= 0) return true
    this.recording = false
    this.root = undefined
    this.preimages = []
    return false
  }

  executionRecord(): ExecutionRecord | undefined {
    if (this.root === undefined) return undefined
    return { root: this.root, preimages: this.preimages, outOfGas: this.outOfGas }
  }

  /** Gives the frames back for the next run. */
  release(): void {
    this.frames.length = Math.min(this.frames.length, FRAMES_KEPT)
    for (const frame of this.frames) frame.release()
    idle.push(this.frames)
  }
}

/** EIP-7708: the address and first topic of the log of a transfer. */
const SYSTEM: Address = '0xfffffffffffffffffffffffffffffffffffffffe'
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** Frames kept for the next run: deeper calls are rare, and a frame is 36 kB. */
const FRAMES_KEPT = 64

/** Frame pools that are not in use: more than one only when a state source starts a run itself. */
const idle: Frame[][] = []

function precompilesFor({ fork, chainPrecompiles }: BlockEnv): ReadonlyMap<number, Precompile> {
  const table = precompilesOf(fork)
  return chainPrecompiles === undefined ? table : new Map([...table, ...chainPrecompiles])
}
