import { place } from '../router.js'

const isLink = place.value.path.startsWith('shared/')

/** The token of the link by which the page was opened, behind its `#`, where no server sees it; undefined = it is no link. */
export const shareToken = isLink ? location.hash.slice(1) : undefined

/** Whether the reader has a link to one operation, and no account. */
export const isReader = shareToken !== undefined

/** The link to an operation for readers without an account. */
export function shareUrl(chainId: number, hash: string, token: string): string {
  return `${new URL(`shared/${chainId}/${hash}`, document.baseURI).href}#${token}`
}
