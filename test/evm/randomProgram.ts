import type { Address } from 'viem'
import { fromHex } from '../../src/evm/index.js'
import type { Random } from './random.js'

/** Valid inputs that a program finds in its calldata, for calls to precompiles. */
export type PrecompileInput = { precompile: number; at: number; size: number }

export type ProgramContext = {
  random: Random
  /** Accounts that a program may call, inspect or send to. */
  targets: readonly Address[]
  inputs: readonly PrecompileInput[]
  /** Whether to use the instructions of Amsterdam too. */
  isAmsterdam: boolean
}

const UNARY = [0x15, 0x19, 0x1e, 0x35, 0x51, 0x54, 0x5c]
const BINARY = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17,
  0x18, 0x1a, 0x1b, 0x1c, 0x1d,
]
const TERNARY = [0x08, 0x09]
const NULLARY = [
  0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, 0x41, 0x42, 0x43, 0x45, 0x46, 0x47, 0x48, 0x4a,
  0x58, 0x59, 0x5a, 0x5f,
]
const OF_ACCOUNT = [0x31, 0x3b, 0x3f]
const CALLS = [0xf1, 0xf2, 0xf4, 0xfa]
const ENDINGS = [0x00, 0xf3, 0xfd, 0xfe, 0xff, 0x0c]

/** Code that does many things at random, most of them to the end and with gas to spare. */
export function randomProgram(context: ProgramContext, snippets: number): Uint8Array {
  const code: number[] = []
  for (let i = 0; i < snippets; i++) code.push(...snippet(context, code.length))
  return Uint8Array.from([...code, ...push(192), ...push(0), 0xf3])
}

function snippet(context: ProgramContext, at: number): number[] {
  const { random } = context
  switch (random.below(context.isAmsterdam ? 24 : 22)) {
    case 0:
    case 1:
    case 2:
      return keep(random, [...value(random), ...value(random), random.pick(BINARY)])
    case 3:
      return keep(random, [...value(random), random.pick(UNARY)])
    case 4:
      return keep(random, [
        ...value(random),
        ...value(random),
        ...value(random),
        random.pick(TERNARY),
      ])
    case 5:
      return keep(random, [random.pick(NULLARY)])
    case 6:
      return keep(random, [...push20(random.pick(context.targets)), random.pick(OF_ACCOUNT)])
    case 7:
    case 8:
      return [...value(random), ...push(random.below(4)), 0x55]
    case 9:
      return keep(random, [...push(random.below(4)), random.pick([0x54, 0x5c])])
    case 10:
      return [...value(random), ...push(random.below(3)), 0x5d]
    case 11:
      return [...value(random), ...place(random), random.pick([0x52, 0x53])]
    case 12:
      return keep(random, [...length(random), ...place(random), 0x20])
    case 13:
      return copy(context)
    case 14:
      return log(random)
    case 15:
    case 16:
      return keep(random, callOf(context))
    case 17:
    case 18:
      return keep(random, precompileCall(context))
    case 19:
      return keep(random, creation(random))
    case 20:
      return jump(context, at)
    case 22:
      return deepStack(random)
    case 23:
      return keep(random, [0x4b])
    default:
      return rare(random)
  }
}

/** DUPN, SWAPN or EXCHANGE on a stack that is mostly deep enough. */
function deepStack(random: Random): number[] {
  const words = Array.from({ length: random.oneIn(8) ? 2 : 40 }, (_, i) => push(i))
  const immediate = random.oneIn(4)
    ? random.below(256)
    : random.pick([0x80, 0x81, 0x8e, 0x9d, 0x20])
  return [...words.flat(), 0xe6 + random.below(3), immediate]
}

/** Leaves the topmost word on the stack, drops it or stores it. */
function keep(random: Random, code: number[]): number[] {
  const after = random.pick([[], [0x50], [...push(32 * random.below(6)), 0x52], [0x80, 0x90]])
  return [...code, ...after]
}

function push(value: number): number[] {
  return value < 256 ? [0x60, value] : [0x62, value >> 16, (value >> 8) & 255, value & 255]
}

function push20(address: Address): number[] {
  return [0x73, ...fromHex(address)]
}

function value(random: Random): number[] {
  switch (random.below(8)) {
    case 0:
      return push(0)
    case 1:
    case 2:
      return push(random.below(256))
    case 3:
      return [0x7f, ...new Uint8Array(32).fill(255)]
    case 4:
      return [0x7f, 0x80, ...new Uint8Array(31)]
    case 5:
      return [0x80 + random.below(4)]
    default: {
      const size = 1 + random.below(32)
      return [0x5f + size, ...random.bytes(size)]
    }
  }
}

/** A place in memory: near, rarely far, hardly ever absurd. */
function place(random: Random): number[] {
  if (random.oneIn(200)) return [0x7f, ...random.bytes(32)]
  return push(random.oneIn(25) ? random.below(100_000) : random.below(256))
}

function length(random: Random): number[] {
  if (random.oneIn(300)) return [0x7f, ...random.bytes(32)]
  return push(random.oneIn(8) ? 0 : random.below(200))
}

function copy({ random, targets }: ProgramContext): number[] {
  const from = random.oneIn(20) ? value(random) : push(random.below(128))
  const three = [...length(random), ...from, ...place(random)]
  if (random.oneIn(3)) return [...three, ...push20(random.pick(targets)), 0x3c]
  return [...three, random.pick([0x37, 0x39, 0x5e])]
}

function log(random: Random): number[] {
  const topics = random.below(5)
  const words = Array.from({ length: topics }, () => value(random)).flat()
  return [...words, ...length(random), ...place(random), 0xa0 + topics]
}

function amount(random: Random): number[] {
  if (random.oneIn(40)) return [0x7f, ...random.bytes(32)]
  return push(random.oneIn(2) ? 0 : random.below(1000))
}

function gasForCall(random: Random): number[] {
  return random.oneIn(3) ? push(random.below(60_000)) : [0x5a]
}

function callOf({ random, targets }: ProgramContext): number[] {
  const op = random.pick(CALLS)
  const regions = [...length(random), ...place(random), ...length(random), ...place(random)]
  const worth = op === 0xf1 || op === 0xf2 ? amount(random) : []
  const code = [...regions, ...worth, ...push20(random.pick(targets)), ...gasForCall(random), op]
  if (!random.oneIn(3)) return code
  const returned = [...push(random.below(40)), ...push(0), ...place(random), 0x3e]
  return [...code, ...returned]
}

/** Copies a valid input from the calldata, sometimes damages it, and calls its precompile. */
function precompileCall({ random, inputs }: ProgramContext): number[] {
  const { precompile, at, size } = random.pick(inputs)
  const asked = random.oneIn(6) ? random.below(size + 40) : size
  const fetch = [...push(size), ...push(at), ...push(0), 0x37]
  const damage = random.oneIn(4)
    ? [...push(random.below(256)), ...push(random.below(size)), 0x53]
    : []
  const target = random.oneIn(12) ? random.below(0x14) : precompile
  const call = [...push(64), ...push(512), ...push(asked), ...push(0), ...push(target), 0x5a, 0xfa]
  return [...fetch, ...damage, ...call]
}

/** CREATE or CREATE2 of initcode that returns some bytes, which may be code of any kind. */
function creation(random: Random): number[] {
  const first = random.pick([0x00, 0x60, 0xef, 0xfe, 0x5b, 0x33])
  const body = [
    0x60,
    first,
    0x5f,
    0x53,
    ...push(random.below(64)),
    0x5f,
    random.oneIn(5) ? 0xfd : 0xf3,
  ]
  const store = random.oneIn(2) ? [0x60, 0x07, 0x60, 0x01, 0x55] : []
  const initcode = [...store, ...body]
  const word = [...initcode, ...new Uint8Array(32 - initcode.length)]
  const memory = [0x7f, ...word, ...push(0), 0x52]
  const region = [...push(random.oneIn(9) ? random.below(3000) : initcode.length), ...push(0)]
  const salt = random.oneIn(2) ? value(random) : []
  const op = salt.length > 0 ? 0xf5 : 0xf0
  return [...memory, ...salt, ...region, ...amount(random), op]
}

/** A conditional jump over a little code, or a counted loop. */
function jump(context: ProgramContext, at: number): number[] {
  const { random } = context
  const inner = [...value(random), ...push(random.below(4)), random.pick([0x55, 0x5d, 0x52])]
  if (random.oneIn(2)) {
    const to = at + 2 + 4 + 1 + inner.length
    return [...push(random.below(2)), 0x62, 0, to >> 8, to & 255, 0x57, ...inner, 0x5b]
  }
  const loop = at + 2
  const count = [0x60, 1, 0x90, 0x03, 0x80, 0x62, 0, loop >> 8, loop & 255, 0x57, 0x50]
  return [...push(1 + random.below(5)), 0x5b, ...inner, ...count]
}

/** Endings and damaged code, seldom enough that most programs go on. */
function rare(random: Random): number[] {
  if (random.oneIn(12)) return [...random.bytes(2)]
  if (!random.oneIn(6)) return [0x5b]
  return [...push(random.below(64)), ...push(random.below(64)), random.pick(ENDINGS)]
}
