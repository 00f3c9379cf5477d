import type { Hex } from 'viem'
import { encodeRlp, integerBytes, type RlpItem } from '../../src/evm/bytes/rlp.js'
import { fromHex, keccak, toHex } from '../../src/evm/index.js'

/** What a state root commits to. */
export type PlainAccount = {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  storage: ReadonlyMap<Hex, bigint>
}

type Leaf = { path: number[]; value: Uint8Array }

/** Root of the secure Merkle-Patricia trie over these accounts. */
export function stateRoot(accounts: ReadonlyMap<Hex, PlainAccount>): Hex {
  const leaves: Leaf[] = []
  for (const [address, account] of accounts) {
    const body = [
      integerBytes(account.nonce),
      integerBytes(account.balance),
      storageRoot(account.storage),
      keccak(account.code),
    ]
    leaves.push({ path: nibbles(keccak(fromHex(address))), value: encodeRlp(body) })
  }
  return toHex(trieRoot(leaves))
}

function storageRoot(storage: ReadonlyMap<Hex, bigint>): Uint8Array {
  const leaves: Leaf[] = []
  for (const [slot, value] of storage) {
    if (value === 0n) continue
    leaves.push({ path: nibbles(keccak(fromHex(slot))), value: encodeRlp(integerBytes(value)) })
  }
  return trieRoot(leaves)
}

function trieRoot(leaves: Leaf[]): Uint8Array {
  return keccak(encodeRlp(leaves.length === 0 ? new Uint8Array(0) : node(leaves, 0)))
}

/** The trie node over leaves that agree in their first `depth` nibbles. All paths are equally long. */
function node(leaves: Leaf[], depth: number): RlpItem {
  const [first, ...others] = leaves
  const { path, value } = first!
  if (others.length === 0) return [compact(path.slice(depth), true), value]
  let end = depth
  while (others.every((leaf) => leaf.path[end] === path[end])) end++
  if (end > depth) return [compact(path.slice(depth, end), false), reference(node(leaves, end))]
  const branch: RlpItem[] = []
  for (let nibble = 0; nibble < 16; nibble++) {
    const below = leaves.filter((leaf) => leaf.path[depth] === nibble)
    branch.push(below.length === 0 ? new Uint8Array(0) : reference(node(below, depth + 1)))
  }
  return [...branch, new Uint8Array(0)]
}

/** A node inside another: itself when short, else its hash. */
function reference(item: RlpItem): RlpItem {
  const encoded = encodeRlp(item)
  return encoded.length < 32 ? item : keccak(encoded)
}

/** Hex-prefix encoding of a path. */
function compact(path: number[], isLeaf: boolean): Uint8Array {
  const odd = path.length % 2
  const flag = (isLeaf ? 2 : 0) + odd
  const whole = odd === 1 ? [flag, ...path] : [flag, 0, ...path]
  return Uint8Array.from(
    { length: whole.length / 2 },
    (_, i) => 16 * whole[2 * i]! + whole[2 * i + 1]!,
  )
}

function nibbles(bytes: Uint8Array): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15])
}
