const HASH_BITS = 13
/** A match may lie this many bytes back at most. */
const MAX_DISTANCE = 2 ** HASH_BITS - 1
/** The last bytes are never looked up, so that a match cannot run over the end. */
const TAIL = 13
const MATCH_TAIL = 4
/** Literals go in runs of at most 32, each with a byte before it. */
const LONGEST_RUN = 32
/** A match of more bytes than this is written in pieces of three bytes. */
const LONGEST_MATCH = 262

/**
 * The length in bytes of the data after FastLZ compression at level 1, by which OP-stack chains measure a
 * transaction from Fjord on. Consensus figures: any other compressor of the same family gives others.
 */
export function fastLzLength(bytes: Uint8Array): number {
  const positions = new Uint32Array(2 ** HASH_BITS)
  const last = Math.max(bytes.length - TAIL, 0)
  let length = 0
  let written = 0
  let at = 2
  while (at < last) {
    const earlier = nextMatch(bytes, positions, at, last)
    if (earlier === undefined) break
    at = earlier.at
    length += literalLength(at - written)
    const matched = matchLength(bytes, earlier.position + 3, at + 3)
    length += 3 * Math.floor((matched - 1) / LONGEST_MATCH)
    length += (matched - 1) % LONGEST_MATCH >= 6 ? 3 : 2
    at += matched
    for (let noted = 0; noted < 2; noted++, at++) positions[hash(triple(bytes, at))] = at
    written = at
  }
  return length + literalLength(bytes.length - written)
}

/** The next position from `from` at which three bytes have been seen before, with that earlier position. */
function nextMatch(
  bytes: Uint8Array,
  positions: Uint32Array,
  from: number,
  last: number,
): { at: number; position: number } | undefined {
  for (let at = from; at < last; at++) {
    const sequence = triple(bytes, at)
    const slot = hash(sequence)
    const position = positions[slot] ?? 0
    positions[slot] = at
    const isMatch = at - position <= MAX_DISTANCE && sequence === triple(bytes, position)
    // The compressor looks at the position behind a match as well: where that is the end, none is written.
    if (isMatch) return at + 1 < last ? { at, position } : undefined
  }
  return undefined
}

/** Bytes by which a match at `at` exceeds two: its first three agree, the first that does not counts as well. */
function matchLength(bytes: Uint8Array, earlier: number, at: number): number {
  const longest = bytes.length - MATCH_TAIL - at
  let length = 0
  while (length < longest) {
    length++
    if (bytes[earlier + length - 1] !== bytes[at + length - 1]) break
  }
  return length
}

/** Bytes that a run of literals takes. */
function literalLength(count: number): number {
  const rest = count % LONGEST_RUN
  return ((count - rest) / LONGEST_RUN) * (LONGEST_RUN + 1) + (rest > 0 ? rest + 1 : 0)
}

function triple(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
}

/** A multiplication modulo 2^32, of which 13 bits count. */
function hash(sequence: number): number {
  return (Math.imul(2_654_435_769, sequence) >>> (32 - HASH_BITS)) & MAX_DISTANCE
}
