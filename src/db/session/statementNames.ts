import { createHash } from 'node:crypto'

/** Under which name a statement is prepared; undefined = it is sent unprepared. */
export type NameOf = (text: string) => string | undefined

/** Lists of varying length make ever new statements, which are sent unprepared beyond these limits. */
const limits = { names: 400, characters: 6_000 }

/**
 * The names of the statements of one database, the same on each of its connections. A server keeps what
 * is prepared as long as a connection lives, so there is a bounded number: who comes first gets one.
 */
export function createStatementNames(): NameOf {
  const names = new Map<string, string>()
  return (text) => {
    const knownName = names.get(text)
    if (knownName !== undefined || names.size >= limits.names || text.length > limits.characters)
      return knownName
    const name = createHash('sha256').update(text).digest('hex').slice(0, 32)
    names.set(text, name)
    return name
  }
}
