import { InvalidFieldError } from '../../base/errors/restErrors.js'

/** An e-mail address as it is stored: in lower case and ASCII, so that no two look or fold alike; undefined = none. */
export function normalEmail(text: string): string | undefined {
  const email = text.trim()
  return email.length <= 254 && /^[!-?A-~]+@[a-zA-Z0-9.-]+$/.test(email)
    ? email.toLowerCase()
    : undefined
}

/** An e-mail address in the form in which it is stored. Throws InvalidFieldError. */
export function requireEmail(text: string): string {
  const email = normalEmail(text)
  if (email === undefined) throw new InvalidFieldError('email', 'must be an ASCII e-mail address')
  return email
}
