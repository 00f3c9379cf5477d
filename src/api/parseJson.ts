import { ParseError } from '../errors/requestErrors.js'
import { requireJsonSize } from './gate/requireJsonSize.js'

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
