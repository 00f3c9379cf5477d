import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file that the build has made, with the two forms that it compressed. */
export type ConsoleFile = {
  readonly type: string
  readonly plain: Buffer<ArrayBuffer>
  readonly br: Buffer<ArrayBuffer>
  readonly gzip: Buffer<ArrayBuffer>
}

export type ConsoleFiles = {
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

/** `dist/console` beside this file's `dist/api/console`. */
const built = fileURLToPath(new URL('../../console/', import.meta.url))

/** The console as it was built, in memory: a quarter of a megabyte; undefined = this is not a build. */
export function readConsoleFiles(folder = built): ConsoleFiles | undefined {
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
