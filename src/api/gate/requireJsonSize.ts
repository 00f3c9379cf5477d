import { InvalidRequestError } from '../../errors/requestErrors.js'

/**
 * The most values that a body may hold: far above the largest batch. A megabyte could hold half a million,
 * each of which takes a hundred bytes and its time once it is parsed.
 */
const MAX_VALUES = 50_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** `[` and `{` */
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
/** `]` and `}` */
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])

/**
 * Throws InvalidRequestError for JSON that is nested deeper than `maxDepth` levels or holds too many
 * values, before anything is made of it. Whether it is JSON at all is for the parser to say.
 */
export function requireJsonSize(bytes: Uint8Array, maxDepth: number): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (opening.has(byte)) {
      values++
      if (++depth > maxDepth)
        throw new InvalidRequestError(`the JSON is nested deeper than ${maxDepth} levels.`)
    } else if (closing.has(byte)) depth--
    else if (byte === COMMA) values++
    if (values > MAX_VALUES)
      throw new InvalidRequestError(`the JSON holds more than ${MAX_VALUES} values.`)
  }
}

/** The position of the quote that ends the text which begins at `start`; the end when none does. */
function endOfText(bytes: Uint8Array, start: number): number {
  let end = start
  do end = bytes.indexOf(QUOTE, end + 1)
  while (end >= 0 && isEscaped(bytes, end))
  return end < 0 ? bytes.length : end
}

/** Whether an odd number of backslashes stands before the byte. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  let begin = at
  while (bytes[begin - 1] === BACKSLASH) begin--
  return (at - begin) % 2 === 1
}
