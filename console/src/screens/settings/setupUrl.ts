/** The link by which somebody chooses a password and signs in; its token stands behind the `#`. */
export function setupUrl(token: string): string {
  return `${new URL('setup', document.baseURI).href}#${token}`
}
