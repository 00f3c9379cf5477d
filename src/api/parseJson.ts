import { InvalidRequestError, ParseError } from '../errors/requestErrors.js'

/** JSON from bytes that must be UTF-8, nested at most `maxDepth` levels. */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  const value = parse(bytes)
  if (isDeeperThan(value, maxDepth))
    throw new InvalidRequestError(`the JSON is nested deeper than ${maxDepth} levels.`)
  return value
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new ParseError()
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((member) => isDeeperThan(member, levels - 1))
}
