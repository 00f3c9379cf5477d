/** The path below which the console lies, with a slash at its end: `/console/`. */
export const consolePath = new URL(document.baseURI).pathname

/** The address of the administration API. */
export const adminUrl = new URL('../admin/v1', document.baseURI).href

/** The name of the identity provider; empty = there is none. */
export const providerName =
  document.querySelector<HTMLMetaElement>('meta[name=purser-provider]')?.content ?? ''

/** The address of the interface of apps, without a slash at its end. */
export const serviceUrl = (
  document.querySelector<HTMLMetaElement>('meta[name=purser-service]')?.content ||
  new URL('../', document.baseURI).href
).replace(/\/+$/, '')
