import type { Context } from 'hono'
import { WrongSiteError } from '../errors/restErrors.js'
import { requireSite } from './admin/site.js'
import { type ConsoleFile, type ConsoleFiles, readConsoleFiles } from './console/consoleFiles.js'
import { consoleHeaders } from './console/consoleHeaders.js'
import type { Env, Mount } from './createApp.js'

const PATH = '/console'
/** The tag in the page that the build made, by which its addresses are relative to where it is served. */
const BASE_TAG = '<base href="/console/" />'
const PROVIDER_TAG = '<meta name="purser-provider" content="" />'
const SERVICE_TAG = '<meta name="purser-service" content="" />'
/** Assets have the hash of their content in their names. */
const FOREVER = 'public, max-age=31536000, immutable'

export type ConsoleSite = {
  /** The https address by which browsers reach the administration; undefined = by localhost only. */
  readonly adminUrl: string | undefined
  /** The address of the interface of apps, which the console shows; undefined = that of the console. */
  serviceUrl(): string | undefined
  /** The words behind "Sign in with"; undefined = there is no identity provider. */
  readonly providerName: string | undefined
}

/**
 * The console: the files that the build made, and its page for every other path below it, which the page itself
 * understands. It is served where users can sign in: at `adminUrl`, whose path it continues, and on localhost.
 */
export function mountConsole(site: ConsoleSite): Mount {
  const { adminUrl, serviceUrl } = site
  return (app) => {
    const files = readConsoleFiles()
    const answer = (c: Context<Env>): Response => {
      for (const [name, value] of Object.entries(consoleHeaders(serviceUrl())))
        c.header(name, value)
      c.header('cache-control', 'no-store')
      if (c.req.method !== 'GET' && c.req.method !== 'HEAD')
        return c.text('The console is read by GET.', 405)
      const isConfigured = isAtConfiguredSite(c, adminUrl)
      if (isConfigured === undefined) return c.text(new WrongSiteError().message, 403)
      if (files === undefined)
        return c.text('The console is not built: run `npm run build` in the clone.', 404)
      const path = c.req.path.slice(PATH.length + 1)
      const file = files.assets.get(path)
      if (file !== undefined) return answerFile(c, file, path.startsWith('assets/'))
      // A tab that is older than the build asks for what is gone, and loads itself anew.
      if (path.startsWith('assets/')) return c.text('This build has no such file.', 404)
      return c.html(pageOf(files, { ...site, adminUrl: isConfigured ? adminUrl : undefined }))
    }
    app.all(PATH, answer)
    app.all(`${PATH}/*`, answer)
  }
}

/** Whether the browser came by `adminUrl` (true) or by localhost (false); undefined = by neither. */
function isAtConfiguredSite(c: Context<Env>, adminUrl: string | undefined): boolean | undefined {
  try {
    return requireSite(c, adminUrl).isSecure
  } catch (error) {
    if (error instanceof WrongSiteError) return undefined
    throw error
  }
}

/** The page with the path at which the browser sees the console: behind a proxy, below another one. */
function pageOf(
  { index }: ConsoleFiles,
  { adminUrl, serviceUrl, providerName }: ConsoleSite,
): string {
  const prefix = adminUrl === undefined ? '' : new URL(adminUrl).pathname.replace(/\/+$/, '')
  const base = `<base href="${quoted(`${prefix}${PATH}/`)}" />`
  const service = `<meta name="purser-service" content="${quoted(serviceUrl() ?? '')}" />`
  const provider = `<meta name="purser-provider" content="${quoted(providerName ?? '')}" />`
  return index
    .replace(BASE_TAG, () => base)
    .replace(SERVICE_TAG, () => service)
    .replace(PROVIDER_TAG, () => provider)
}

function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

function answerFile(
  c: Context<Env>,
  { type, plain, br, gzip }: ConsoleFile,
  isNamedByContent: boolean,
): Response {
  c.header('content-type', type)
  if (isNamedByContent) c.header('cache-control', FOREVER)
  c.header('vary', 'accept-encoding')
  const accepted = (c.req.header('accept-encoding') ?? '').split(/\s*,\s*/)
  const takes = (encoding: string) => accepted.some((each) => each.split(';')[0] === encoding)
  if (takes('br')) return c.body(br, 200, { 'content-encoding': 'br' })
  if (takes('gzip')) return c.body(gzip, 200, { 'content-encoding': 'gzip' })
  return c.body(plain)
}
