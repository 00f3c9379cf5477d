import { type Fork, forks, includesFork } from '../forks.js'
import { STACK_LIMIT } from './frame.js'
import { instructions } from './instructions.js'
import type { Handler, InstructionTable } from './machine.js'

const UNASSIGNED = STACK_LIMIT + 1

function build(fork: Fork): InstructionTable {
  const gas = new Uint16Array(256)
  const least = new Uint16Array(256).fill(UNASSIGNED)
  const most = new Uint16Array(256).fill(STACK_LIMIT)
  const handlers: (Handler | undefined)[] = new Array(256).fill(undefined)
  for (const instruction of instructions) {
    const { opcode, pops, pushes } = instruction
    if (instruction.since !== undefined && !includesFork(fork, instruction.since)) continue
    gas[opcode] = instruction.gas
    least[opcode] = pops
    most[opcode] = Math.min(STACK_LIMIT, STACK_LIMIT + pops - pushes)
    handlers[opcode] = instruction.handler
  }
  return { gas, least, most, handlers }
}

const tables = new Map(forks.map((fork) => [fork, build(fork)]))

/** The instructions that `fork` has. */
export function instructionTable(fork: Fork): InstructionTable {
  return tables.get(fork)!
}

/** Whether `fork` has an instruction with this opcode. INVALID (0xfe) is not assigned. */
export function isAssigned(fork: Fork, opcode: number): boolean {
  return instructionTable(fork).least[opcode]! <= STACK_LIMIT
}
