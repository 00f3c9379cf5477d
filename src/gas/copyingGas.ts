import type { Hex } from 'viem'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Overhead, StateBefore } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'

/** An operation, with what its validation showed about its costs in a bundle. */
export type CarriedOperation = {
  readonly op: Operation
  /** Bytes of the context that its paymaster returned. */
  readonly contextSize: number
  /** Absent where nobody looked. */
  readonly before?: StateBefore | undefined
}

/** An operation as the EntryPoint copies it. */
type CopiedOperation = CarriedOperation & {
  /** Its ABI encoding. */
  readonly encoded: Hex
}

/** callData with this selector makes the EntryPoint pass the whole operation to the account (v0.7 and later). */
const EXECUTE_USER_OP_SELECTOR = '0x8dd7712f'
/** Copying a word of call data into the memory of handleOps and again of the inner call; measured 9.2. */
const GAS_PER_CALL_DATA_WORD = 10
/** The memory that handleOps itself needs for an operation, at most. */
const WORDS_PER_OPERATION = 40

const noOverhead = { fixed: 0, perWord: 0 }

/**
 * Gas, metered for nobody, of copying the call data and the contexts of a bundle's operations into the
 * memory of handleOps and of their inner calls. Growing memory by words costs their square, so a bundle
 * can cost more than the sum of its operations alone.
 */
export function copyingGas(overhead: Overhead, ops: readonly CopiedOperation[]): number {
  const linear = ops.reduce((sum, copied) => sum + linearGas(overhead, copied), 0)
  const inner = ops.reduce((sum, copied) => sum + squareGas(innerWords(copied)), 0)
  return Math.ceil(linear + inner + outerGas(ops))
}

/**
 * Gas for the contexts of a bundle's operations, which its gas limit needs in addition to
 * `EntryPoint.bundleGas`, which knows limits and call data only: for the copies that nobody pays for, and for as many
 * that the EntryPoint meters while it calls postOp (v0.7: up to 80 a word).
 */
export function contextGas(
  entryPoint: Pick<EntryPoint, 'gas' | 'encodeOperation'>,
  carried: readonly CarriedOperation[],
): bigint {
  const copied = carried
    .filter(({ contextSize }) => contextSize > 0)
    .map((each) => ({ ...each, encoded: entryPoint.encodeOperation(each.op) }))
  return 2n * BigInt(copyingGas(entryPoint.gas().overhead, copied))
}

function linearGas({ contextWord, executeUserOp }: Overhead, copied: CopiedOperation): number {
  const { op, contextSize, encoded } = copied
  const { fixed, perWord } = (passesOperation(op) && executeUserOp) || noOverhead
  return (
    words(op.callData) * GAS_PER_CALL_DATA_WORD +
    Math.ceil(contextSize / 32) * contextWord +
    fixed +
    words(encoded) * perWord
  )
}

/**
 * The memory of handleOps holds all contexts and, from validation, space for the longest operation, all
 * of it metered. The input of an inner call lies behind the contexts, so they push it beyond that.
 */
function outerGas(ops: readonly CopiedOperation[]): number {
  const contexts = ops.reduce((sum, { contextSize }) => sum + Math.ceil(contextSize / 32), 0)
  const longest = Math.max(0, ...ops.map(({ encoded }) => words(encoded)))
  const held = ops.length * WORDS_PER_OPERATION + contexts + longest
  const pushed = ops.map((copied) => {
    const context = Math.ceil(copied.contextSize / 32)
    const others = innerWords(copied) - context
    return context + (passesOperation(copied.op) ? others : Math.min(others, contexts))
  })
  return squareGas(held + Math.max(0, ...pushed)) - squareGas(held)
}

function innerWords({ op, contextSize, encoded }: CopiedOperation): number {
  return words(passesOperation(op) ? encoded : op.callData) + Math.ceil(contextSize / 32)
}

/** The part of the gas for this many words of memory that grows with their square. */
function squareGas(count: number): number {
  return count ** 2 / 512
}

function passesOperation({ callData }: Operation): boolean {
  return callData.startsWith(EXECUTE_USER_OP_SELECTOR)
}

function words(hex: Hex): number {
  return Math.ceil((hex.length - 2) / 64)
}
