import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'hono'
import { WrongSiteError } from '../base/errors/restErrors.js'
import { requireSite } from './admin/authenticate.js'
import type { Env, Mount } from './createApp.js'

const PATH = '/console'
/** The tag in the page that the build made, by which its addresses are relative to where it is served. */
const BASE_TAG = '<base href="/console/" />'
const PROVIDER_TAG = '<meta name="purser-provider" content="" />'
const SERVICE_TAG = '<meta name="purser-service" content="" />'
/** Assets have the hash of their content in their names. */
const FOREVER = 'public, max-age=31536000, immutable'

type ConsoleSite = {
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
  return (app, { gate }) => {
    const files = readConsoleFiles()
    const answer = (c: Context<Env>): Response => {
      gate.enter(c.get('caller').ip)
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

/** A file that the build has made, with the two forms that it compressed. */
type ConsoleFile = {
  readonly type: string
  readonly plain: Buffer<ArrayBuffer>
  readonly br: Buffer<ArrayBuffer>
  readonly gzip: Buffer<ArrayBuffer>
}

type ConsoleFiles = {
  /** The page that every path without a file shows. */
  readonly index: string
  /** By the path below the console. */
  readonly assets: ReadonlyMap<string, ConsoleFile>
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
}

/** `dist/console`, next to this file's `dist/api`. */
const built = fileURLToPath(new URL('../console/', import.meta.url))

/** The console as it was built, in memory: a quarter of a megabyte; undefined = this is not a build. */
function readConsoleFiles(folder = built): ConsoleFiles | undefined {
  const page = join(folder, 'index.html')
  if (!existsSync(page)) return undefined
  const assets = new Map<string, ConsoleFile>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const read = (suffix = '') => readFileSync(join(folder, name + suffix))
    const file = { type, plain: read(), br: read('.br'), gzip: read('.gz') }
    assets.set(name.replaceAll('\\', '/'), file)
  }
  return { index: readFileSync(page, 'utf8'), assets }
}

/**
 * The rules under which a browser runs the console: scripts and styles of this origin alone, no frame around it, and no
 * text that becomes code (trusted types). Requests go to this origin, and to that of the interface of apps, which the
 * explorer asks.
 * @param serviceUrl - undefined = the interface of apps has the origin of the console
 */
function consoleHeaders(serviceUrl: string | undefined): Readonly<Record<string, string>> {
  const service = serviceUrl === undefined ? '' : ` ${new URL(serviceUrl).origin}`
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      `connect-src 'self'${service}`,
      "form-action 'self'",
      "base-uri 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
}
