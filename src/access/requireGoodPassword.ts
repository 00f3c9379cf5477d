import { WeakPasswordError } from '../errors/restErrors.js'

/** The bounds of a password, in characters; the longest takes as long to hash as the shortest. */
const passwordLength = { least: 12, most: 128 } as const

/** Words that lists of stolen passwords are made of. */
const commonWords =
  /passwor[dt]|p[a@]ssw[o0]rd|qwert[yz]u?i?o?p?|asdfg?h?j?k?l?|zxcvb?n?m?|letmein|welcome|administrator|admin|purser|iloveyou|monkey|dragon|master|football|baseball|superman|batman|sunshine|princess|shadow|michael|trustno|changeme|secret|login|hello|summer|winter|spring|autumn|default|root|user|test|abc|xyz/g
/** The least number of different characters beside common words, digits in a row and the user's own name. */
const LEAST_OTHERS = 5

/**
 * Refuses what is guessed first. No rule on kinds of characters: length is what counts.
 * @throws WeakPasswordError
 */
export function requireGoodPassword(password: string, email: string): void {
  const length = [...password].length
  if (length < passwordLength.least || length > passwordLength.most)
    throw new WeakPasswordError(
      `must have ${passwordLength.least} to ${passwordLength.most} characters`,
    )
  const names = email.split(/[@._+-]/).filter((part) => part.length >= 3)
  let rest = password.toLowerCase()
  for (const name of names) rest = rest.replaceAll(name, '')
  rest = rest
    .replace(commonWords, '')
    .replace(/\d{2,}/g, '')
    .replace(/(.)\1+/gu, '$1')
  if (new Set(rest).size < LEAST_OTHERS)
    throw new WeakPasswordError(
      'is one that is guessed early: use several words that do not belong together',
    )
}
