import { InvalidFieldError } from '../../errors/restErrors.js'

/** A cursor that is a row's number, as `next` gave it. */
export function cursorNumber(before: string | undefined): string | undefined {
  if (before !== undefined && !/^\d{1,18}$/.test(before))
    throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
  return before
}
