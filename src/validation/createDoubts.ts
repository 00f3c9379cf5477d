import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { CodeHashes } from './erc7562/index.js'

/** Hashes of code that are remembered. */
const CODES = 16_384
/** The hash of no code, as that of an account which is going to be created. */
const EMPTY_CODE: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
/** Milliseconds after which doubted code is compared with the node once more. */
const LOOK_AGAIN = 600_000

/** The codes that the node was seen to run as our EVM does, and those that it runs otherwise. */
export type Doubts = {
  /** Whether a comparison of this code is due although nothing asks for it. */
  isDue(codes: CodeHashes): boolean
  /** Whether the node, and not our EVM, is to be believed about a validation that uses this code. */
  isDoubted(codes: CodeHashes): boolean
  agrees(codes: CodeHashes): void
  differs(entryPoint: Address, codes: CodeHashes): void
}

/**
 * A difference raises doubt about code and never about a chain: whoever finds one would else stop the
 * operations of everybody. Doubted is the code that was not seen to agree before; where all was, all but
 * that of the EntryPoint.
 */
export function createDoubts(now: () => number): Doubts {
  const agreed = new Lru<Hex, true>(CODES)
  /** With the time at which the code is compared again. */
  const doubted = new Lru<Hex, number>(CODES)

  return {
    isDue(codes) {
      const hashes = [...codes.values()]
      const times = hashes.flatMap((hash) => doubted.get(hash) ?? [])
      return times.length > 0
        ? times.some((lookAgainAt) => lookAgainAt <= now())
        : hashes.some((hash) => agreed.get(hash) === undefined)
    },
    isDoubted: (codes) => [...codes.values()].some((hash) => doubted.get(hash) !== undefined),
    agrees(codes) {
      const hashes = new Set(codes.values())
      for (const hash of hashes) {
        doubted.delete(hash)
        agreed.set(hash, true)
      }
    },
    differs(entryPoint, codes) {
      const others = [...codes].flatMap(([address, hash]) =>
        address === entryPoint || hash === EMPTY_CODE ? [] : [hash],
      )
      const unknown = others.filter((hash) => agreed.get(hash) === undefined)
      for (const hash of unknown.length > 0 ? unknown : others)
        doubted.set(hash, now() + LOOK_AGAIN)
    },
  }
}
