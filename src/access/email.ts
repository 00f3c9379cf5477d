/** An e-mail address as it is stored: in lower case and ASCII, so that no two look or fold alike; undefined = none. */
export function normalEmail(text: string): string | undefined {
  const email = text.trim()
  return email.length <= 254 && /^[!-?A-~]+@[a-zA-Z0-9.-]+$/.test(email)
    ? email.toLowerCase()
    : undefined
}
