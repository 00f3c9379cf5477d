import { InvalidParamsError } from '../../../errors/requestErrors.js'

/** A JSON object of the caller. Read it with `member` only, so that prototypes stay out. */
export type Members = Readonly<Record<string, unknown>>

export function decodeObject(value: unknown, field: string): Members {
  if (value === undefined || value === null) throw new InvalidParamsError(field, 'is missing.')
  if (typeof value !== 'object' || Array.isArray(value))
    throw new InvalidParamsError(field, 'must be an object.')
  return value as Members
}

/** The object's own member; null counts as missing. */
export function member(object: Members, name: string): unknown {
  return memberOrNull(object, name) ?? undefined
}

/** The object's own member, where null is a value like any other. */
export function memberOrNull(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
