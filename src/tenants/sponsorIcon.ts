/** The most characters of a URL. */
const MAX_URL = 2_048
/** The most characters of a data URI: a picture of 12 kB in base64, enough for 96 x 96 pixels. */
const MAX_DATA = 16_384

/** What is asked of the icon of a sponsor, for messages. */
export const sponsorIconRule = `an https URL of at most ${MAX_URL} characters, or a data URI of an image (png, webp, jpeg, gif, svg+xml) of at most ${MAX_DATA}`

const imageData =
  /^data:image\/(?:png|webp|jpeg|gif|svg\+xml)(?:;charset=[\w-]{1,20})?(?:;base64)?,[\w.~:/?#[\]@!$&'()*+,;=%-]+$/

/**
 * Whether a text may be the icon of a sponsor. ERC-7677 asks for a data URI (RFC 2397); its examples, and
 * other services, have URLs.
 */
export function isSponsorIcon(text: string): boolean {
  if (text.startsWith('data:')) return text.length <= MAX_DATA && imageData.test(text)
  return text.length <= MAX_URL && isPlainUrl(text)
}

/** An https URL without credentials, written as it is requested. */
function isPlainUrl(text: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}
