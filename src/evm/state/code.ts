import type { Hex } from 'viem'
import { toHex } from '../bytes/hex.js'
import { keccak } from '../bytes/keccak.js'

/** EIP-7702 designator: `0xef0100` followed by the delegate's address. */
const DELEGATION_SIZE = 23

/** Code made ready to run; made once per byte array and kept as long as that array lives. */
export type Code = {
  readonly bytes: Uint8Array
  /** The code followed by zeros, so that reading past the end yields STOP and PUSH data of zero. */
  readonly padded: Uint8Array
  /** 1 at every position that JUMP may reach. */
  readonly jumps: Uint8Array
  /** keccak256 of the code. */
  readonly hash: () => Uint8Array
  /** The 20 address bytes when the code is an EIP-7702 designator. */
  readonly delegate: Uint8Array | undefined
}

const known = new WeakMap<Uint8Array, Code>()

/** The prepared form of `bytes`. Keep and pass the same array to have the analysis done once. */
export function codeOf(bytes: Uint8Array): Code {
  let code = known.get(bytes)
  if (code === undefined) {
    code = prepare(bytes)
    known.set(bytes, code)
  }
  return code
}

/** keccak256 of `bytes` as EXTCODEHASH gives it; computed once per array. */
export function codeHash(bytes: Uint8Array): Hex {
  return toHex(codeOf(bytes).hash())
}

export const emptyBytes = new Uint8Array(0)

export const emptyCode = codeOf(emptyBytes)

/** EXTCODEHASH of an account that exists and has no code. */
export const emptyCodeHash = codeHash(emptyBytes)

function prepare(bytes: Uint8Array): Code {
  const padded = new Uint8Array(bytes.length + 33)
  padded.set(bytes)
  let hash: Uint8Array | undefined
  return {
    bytes,
    padded,
    jumps: jumpDestinations(padded, bytes.length),
    hash: () => {
      hash ??= keccak(bytes)
      return hash
    },
    delegate: delegateOf(bytes),
  }
}

function jumpDestinations(padded: Uint8Array, length: number): Uint8Array {
  const jumps = new Uint8Array(padded.length)
  for (let i = 0; i < length; i++) {
    const op = padded[i]!
    if (op === 0x5b) jumps[i] = 1
    else if (op >= 0x60 && op <= 0x7f) i += op - 0x5f
  }
  return jumps
}

function delegateOf(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length !== DELEGATION_SIZE) return undefined
  if (bytes[0] !== 0xef || bytes[1] !== 0x01 || bytes[2] !== 0x00) return undefined
  return bytes.slice(3)
}
