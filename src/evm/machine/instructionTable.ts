import { type Fork, forks, includesFork } from '../forks.js'
import { type Frame, STACK_LIMIT } from './frame.js'
import { instructions } from './instructions.js'
import type { Machine } from './machine.js'
import type { Signal } from './signal.js'

/** An instruction outside the interpreter's own loop. Its fixed gas is already paid. */
export type Handler = (machine: Machine, frame: Frame, op: number) => Signal

/** The instructions of one fork, by opcode. */
export type InstructionTable = {
  /** Fixed gas. */
  gas: Uint16Array
  /** Fewest and most words that may be on the stack; no count satisfies an unassigned opcode. */
  least: Uint16Array
  most: Uint16Array
  /** Undefined for unassigned opcodes and for those that the interpreter runs itself. */
  run: readonly (Handler | undefined)[]
}

const UNASSIGNED = STACK_LIMIT + 1

function build(fork: Fork): InstructionTable {
  const gas = new Uint16Array(256)
  const least = new Uint16Array(256).fill(UNASSIGNED)
  const most = new Uint16Array(256).fill(STACK_LIMIT)
  const run: (Handler | undefined)[] = new Array(256).fill(undefined)
  for (const instruction of instructions) {
    const { opcode, pops, pushes } = instruction
    if (instruction.since !== undefined && !includesFork(fork, instruction.since)) continue
    gas[opcode] = instruction.gas
    least[opcode] = pops
    most[opcode] = Math.min(STACK_LIMIT, STACK_LIMIT + pops - pushes)
    run[opcode] = instruction.run
  }
  return { gas, least, most, run }
}

const tables = new Map(forks.map((fork) => [fork, build(fork)]))

export function instructionTable(fork: Fork): InstructionTable {
  return tables.get(fork)!
}

/** Whether `fork` has an instruction with this opcode. INVALID (0xfe) is none. */
export function isAssigned(fork: Fork, opcode: number): boolean {
  return instructionTable(fork).least[opcode]! <= STACK_LIMIT
}
