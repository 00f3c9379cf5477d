import { InvalidParamsError } from '../../../errors/requestErrors.js'

/** A JSON array, each element decoded; `field` is the path for errors. */
export function decodeList<T>(
  list: unknown,
  field: string,
  decode: (element: unknown, field: string) => T,
): T[] {
  if (!Array.isArray(list)) throw new InvalidParamsError(field, 'must be a list.')
  return list.map((element, index) => decode(element, `${field}[${index}]`))
}

/** A JSON array of at most `most` elements. */
export function decodeBoundedList<T>(
  list: unknown,
  field: string,
  most: number,
  decode: (element: unknown, field: string) => T,
): T[] {
  if (Array.isArray(list) && list.length > most)
    throw new InvalidParamsError(field, `must be a list of at most ${most}.`)
  return decodeList(list, field, decode)
}
