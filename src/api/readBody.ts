import type { IncomingMessage } from 'node:http'
import {
  InvalidRequestError,
  ParseError,
  PayloadTooLargeError,
} from '../base/errors/requestErrors.js'

/**
 * The whole body of a request, also of a GET, which fetch-style requests do not give.
 * Throws PayloadTooLargeError before more than `limit` bytes are kept.
 */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => new PayloadTooLargeError('The request body in bytes', limit)
    if (Number(incoming.headers['content-length']) > limit) return reject(tooLarge())
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else settle(() => reject(tooLarge()))
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)))
    const onBroken = (): void =>
      settle(() =>
        reject(new InvalidRequestError('the connection closed before the body was complete.')),
      )
    const settle = (answer: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('close', onBroken)
      answer()
    }
    // The error listener stays: a reset after the answer must not become an unhandled event.
    incoming.on('error', onBroken)
    incoming.on('data', onData).on('end', onEnd).on('close', onBroken)
  })
}

/** JSON from bytes that must be UTF-8, nested at most `maxDepth` levels. */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  requireJsonSize(bytes, maxDepth)
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new ParseError()
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

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
function requireJsonSize(bytes: Uint8Array, maxDepth: number): void {
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
