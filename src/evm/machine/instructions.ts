import { type Fork, forks, includesFork } from '../forks.js'
import {
  addmod,
  byte,
  clz,
  divide,
  exponentiate,
  modulo,
  mulmod,
  sar,
  signExtend,
  signedCompare,
  signedDivide,
  signedModulo,
} from '../operations/arithmetic.js'
import { blobBaseFee, blobHash, blockHash, blockWord, origin } from '../operations/block.js'
import { callFamily } from '../operations/call.js'
import {
  address,
  balance,
  calldataCopy,
  calldataSize,
  caller,
  callValue,
  codeCopy,
  codeSize,
  gasLeft,
  gasPrice,
  memorySize,
  programCounter,
  returnDataCopy,
  returnDataSize,
  selfBalance,
} from '../operations/context.js'
import { createFamily, selfDestruct } from '../operations/create.js'
import { deepStack } from '../operations/deepStack.js'
import { extCodeCopy, extCodeHash, extCodeSize } from '../operations/extCode.js'
import { hash, log, memoryCopy, returnOrRevert, storeByte } from '../operations/memory.js'
import { sload, sstore, tload, tstore } from '../operations/storage.js'
import { STACK_LIMIT } from './frame.js'
import type { Handler, InstructionTable } from './machine.js'

/** One instruction: `gas` is its fixed part, `pops` and `pushes` its effect on the stack. */
type Instruction = {
  opcode: number
  name: string
  gas: number
  pops: number
  pushes: number
  /** Absent when the interpreter's loop runs it itself. */
  handler?: Handler
  /** First fork that has it; absent when all do. */
  since?: Fork
}

type Row = [
  opcode: number,
  name: string,
  gas: number,
  pops: number,
  pushes: number,
  handler?: Handler,
  since?: Fork,
]

const rows: Row[] = [
  [0x00, 'STOP', 0, 0, 0],
  [0x01, 'ADD', 3, 2, 1],
  [0x02, 'MUL', 5, 2, 1],
  [0x03, 'SUB', 3, 2, 1],
  [0x04, 'DIV', 5, 2, 1, divide],
  [0x05, 'SDIV', 5, 2, 1, signedDivide],
  [0x06, 'MOD', 5, 2, 1, modulo],
  [0x07, 'SMOD', 5, 2, 1, signedModulo],
  [0x08, 'ADDMOD', 8, 3, 1, addmod],
  [0x09, 'MULMOD', 8, 3, 1, mulmod],
  [0x0a, 'EXP', 10, 2, 1, exponentiate],
  [0x0b, 'SIGNEXTEND', 5, 2, 1, signExtend],
  [0x10, 'LT', 3, 2, 1],
  [0x11, 'GT', 3, 2, 1],
  [0x12, 'SLT', 3, 2, 1, signedCompare],
  [0x13, 'SGT', 3, 2, 1, signedCompare],
  [0x14, 'EQ', 3, 2, 1],
  [0x15, 'ISZERO', 3, 1, 1],
  [0x16, 'AND', 3, 2, 1],
  [0x17, 'OR', 3, 2, 1],
  [0x18, 'XOR', 3, 2, 1],
  [0x19, 'NOT', 3, 1, 1],
  [0x1a, 'BYTE', 3, 2, 1, byte],
  [0x1b, 'SHL', 3, 2, 1],
  [0x1c, 'SHR', 3, 2, 1],
  [0x1d, 'SAR', 3, 2, 1, sar],
  [0x1e, 'CLZ', 5, 1, 1, clz, 'osaka'],
  [0x20, 'KECCAK256', 30, 2, 1, hash],
  [0x30, 'ADDRESS', 2, 0, 1, address],
  [0x31, 'BALANCE', 0, 1, 1, balance],
  [0x32, 'ORIGIN', 2, 0, 1, origin],
  [0x33, 'CALLER', 2, 0, 1, caller],
  [0x34, 'CALLVALUE', 2, 0, 1, callValue],
  [0x35, 'CALLDATALOAD', 3, 1, 1],
  [0x36, 'CALLDATASIZE', 2, 0, 1, calldataSize],
  [0x37, 'CALLDATACOPY', 3, 3, 0, calldataCopy],
  [0x38, 'CODESIZE', 2, 0, 1, codeSize],
  [0x39, 'CODECOPY', 3, 3, 0, codeCopy],
  [0x3a, 'GASPRICE', 2, 0, 1, gasPrice],
  [0x3b, 'EXTCODESIZE', 0, 1, 1, extCodeSize],
  [0x3c, 'EXTCODECOPY', 0, 4, 0, extCodeCopy],
  [0x3d, 'RETURNDATASIZE', 2, 0, 1, returnDataSize],
  [0x3e, 'RETURNDATACOPY', 3, 3, 0, returnDataCopy],
  [0x3f, 'EXTCODEHASH', 0, 1, 1, extCodeHash],
  [0x40, 'BLOCKHASH', 20, 1, 1, blockHash],
  [0x41, 'COINBASE', 2, 0, 1, blockWord],
  [0x42, 'TIMESTAMP', 2, 0, 1, blockWord],
  [0x43, 'NUMBER', 2, 0, 1, blockWord],
  [0x44, 'PREVRANDAO', 2, 0, 1, blockWord],
  [0x45, 'GASLIMIT', 2, 0, 1, blockWord],
  [0x46, 'CHAINID', 2, 0, 1, blockWord],
  [0x47, 'SELFBALANCE', 5, 0, 1, selfBalance],
  [0x48, 'BASEFEE', 2, 0, 1, blockWord],
  [0x49, 'BLOBHASH', 3, 1, 1, blobHash, 'cancun'],
  [0x4a, 'BLOBBASEFEE', 2, 0, 1, blobBaseFee, 'cancun'],
  [0x50, 'POP', 2, 1, 0],
  [0x51, 'MLOAD', 3, 1, 1],
  [0x52, 'MSTORE', 3, 2, 0],
  [0x53, 'MSTORE8', 3, 2, 0, storeByte],
  [0x54, 'SLOAD', 0, 1, 1, sload],
  [0x55, 'SSTORE', 0, 2, 0, sstore],
  [0x56, 'JUMP', 8, 1, 0],
  [0x57, 'JUMPI', 10, 2, 0],
  [0x58, 'PC', 2, 0, 1, programCounter],
  [0x59, 'MSIZE', 2, 0, 1, memorySize],
  [0x5a, 'GAS', 2, 0, 1, gasLeft],
  [0x5b, 'JUMPDEST', 1, 0, 0],
  [0x5c, 'TLOAD', 100, 1, 1, tload, 'cancun'],
  [0x5d, 'TSTORE', 100, 2, 0, tstore, 'cancun'],
  [0x5e, 'MCOPY', 3, 3, 0, memoryCopy, 'cancun'],
  [0x5f, 'PUSH0', 2, 0, 1],
  [0xf0, 'CREATE', 32_000, 3, 1, createFamily],
  [0xf1, 'CALL', 0, 7, 1, callFamily],
  [0xf2, 'CALLCODE', 0, 7, 1, callFamily],
  [0xf3, 'RETURN', 0, 2, 0, returnOrRevert],
  [0xf4, 'DELEGATECALL', 0, 6, 1, callFamily],
  [0xf5, 'CREATE2', 32_000, 4, 1, createFamily],
  [0xfa, 'STATICCALL', 0, 6, 1, callFamily],
  [0xfd, 'REVERT', 0, 2, 0, returnOrRevert],
  [0xff, 'SELFDESTRUCT', 5000, 1, 0, selfDestruct],
  // EIP-7843, EIP-8024, EIP-8038.
  [0x4b, 'SLOTNUM', 2, 0, 1, blockWord, 'amsterdam'],
  [0xe6, 'DUPN', 3, 1, 2, deepStack, 'amsterdam'],
  [0xe7, 'SWAPN', 3, 2, 2, deepStack, 'amsterdam'],
  [0xe8, 'EXCHANGE', 3, 2, 2, deepStack, 'amsterdam'],
  [0x3b, 'EXTCODESIZE', 100, 1, 1, extCodeSize, 'amsterdam'],
  [0x3c, 'EXTCODECOPY', 100, 4, 0, extCodeCopy, 'amsterdam'],
  [0xf0, 'CREATE', 12_000, 3, 1, createFamily, 'amsterdam'],
  [0xf5, 'CREATE2', 12_000, 4, 1, createFamily, 'amsterdam'],
]

for (let n = 1; n <= 32; n++) rows.push([0x5f + n, `PUSH${n}`, 3, 0, 1])
for (let n = 1; n <= 16; n++) rows.push([0x7f + n, `DUP${n}`, 3, n, n + 1])
for (let n = 1; n <= 16; n++) rows.push([0x8f + n, `SWAP${n}`, 3, n + 1, n + 1])
for (let n = 0; n <= 4; n++) rows.push([0xa0 + n, `LOG${n}`, 375 + 375 * n, 2 + n, 0, log])

/** Every instruction of every fork since Shanghai; of two with one opcode the later one holds. INVALID (0xfe) is one of the unassigned. */
const instructions: readonly Instruction[] = rows.map(
  ([opcode, name, gas, pops, pushes, handler, since]) => ({
    opcode,
    name,
    gas,
    pops,
    pushes,
    ...(handler && { handler }),
    ...(since && { since }),
  }),
)

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
