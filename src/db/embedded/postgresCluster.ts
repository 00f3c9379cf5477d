import { execFile, type SpawnOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { chmod, chown, mkdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ConfigError } from '../../base/errors/configError.js'
import { createFolderOnce } from './createFolderOnce.js'
import { type PostgresBinaries, preparePostgresBinaries } from './postgresBinaries.js'

/** A PostgreSQL cluster on disk and how to run it. */
export type Cluster = {
  readonly folder: string
  /** The file to which PostgreSQL writes its messages. */
  readonly log: string
  readonly binaries: PostgresBinaries
  readonly links: string
  readonly runAs: { readonly uid: number; readonly gid: number } | undefined
  /** The files that say who may connect; undefined = those of the cluster. */
  readonly access: { readonly hba: string; readonly ident: string } | undefined
}

/** The superuser of the cluster, as whom Purser connects. */
export const CLUSTER_USER = 'purser'

const isLinux = process.platform === 'linux'
/** `nobody` nearly everywhere. PostgreSQL refuses to run as root, initdb for a user without name. */
const UNPRIVILEGED = 65_534

/**
 * How PostgreSQL names the cluster's folder. Its user may not be able to walk the path there when
 * we are root: spawn() enters the working directory before it changes the user, PostgreSQL's
 * processes keep that directory, and /proc/self/cwd leads there without walking.
 */
export const here = isLinux ? '/proc/self/cwd' : undefined

/** Environment and user of the cluster's programs, started in `cwd`. */
export function spawnOptions({ binaries, links, runAs }: Omit<Cluster, 'folder'>, cwd: string) {
  const libraries = [here ? `${here}/../lib` : links, binaries.libraries].join(':')
  return {
    cwd,
    // Nothing of our environment: it may hold secrets, and PG* variables would change defaults.
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      [isLinux ? 'LD_LIBRARY_PATH' : 'DYLD_LIBRARY_PATH']: libraries,
      LC_ALL: 'C',
      TZ: 'UTC',
    },
    ...runAs,
  } satisfies SpawnOptions
}

function ownerOf(folder: string): { uid: number; gid: number } | undefined {
  const status = statSync(folder, { throwIfNoEntry: false })
  return status && { uid: status.uid, gid: status.gid }
}

/** The user whose processes serve the cluster: ourselves, unless we are root. */
function chooseUser(folder: string): Cluster['runAs'] {
  const ownUid = process.getuid?.()
  const owner = ownerOf(folder)
  if (ownUid === 0) return owner ?? { uid: UNPRIVILEGED, gid: UNPRIVILEGED }
  if (owner && owner.uid !== ownUid)
    throw new ConfigError(
      `${folder} belongs to user ${owner.uid}, and Purser runs as user ${ownUid}; start it as that user or as root.`,
    )
  return undefined
}

/** The line of PostgreSQL's messages that names the reason of a failure. */
export function lastWords(text: string): string {
  const lines = text.trim().split('\n')
  const reason = lines.findLast((line) => /FATAL|PANIC|error:|error while/.test(line))
  return (reason ?? lines.at(-1) ?? '').trim()
}

function initialize(cluster: Cluster) {
  return async (draft: string) => {
    const { binaries, runAs } = cluster
    if (runAs)
      await chown(draft, runAs.uid, runAs.gid).catch(({ message }: Error) => {
        throw new ConfigError(
          `PostgreSQL does not run as root, and its folder cannot belong to another user (${message}). Start Purser as an ordinary user, or set DATABASE_URL.`,
        )
      })
    const names = [
      '-U',
      CLUSTER_USER,
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-instructions',
    ]
    try {
      await promisify(execFile)(
        binaries.initdb,
        ['-D', here ?? draft, ...names],
        spawnOptions(cluster, draft),
      )
    } catch (error) {
      const { stderr, message } = error as { stderr?: string; message: string }
      throw new ConfigError(
        `PostgreSQL could not create its cluster in ${cluster.folder}: ${lastWords(stderr || message)}`,
        { cause: error },
      )
    }
  }
}

/**
 * Writes who may connect to a server that runs as another user than we do: root alone, whom the kernel
 * names to PostgreSQL. The socket's folder belongs to the server's user, often `nobody`, and so is open
 * to whatever else runs as that user. Where we are the server's user ourselves, the folder is closed to
 * all others.
 */
async function writeAccess(root: string): Promise<Cluster['access']> {
  if (!isLinux || process.getuid?.() !== 0) return undefined
  // Replaced, never emptied: a server that another process starts right now reads the same files.
  const write = async (name: string, line: string): Promise<string> => {
    const file = join(root, name)
    const draft = `${file}.${randomUUID()}`
    await writeFile(draft, `${line}\n`)
    // Whatever the umask, the server's user has to read it.
    await chmod(draft, 0o644)
    await rename(draft, file)
    return file
  }
  return {
    hba: await write('pg_hba.conf', 'local all all peer map=purser'),
    ident: await write('pg_ident.conf', `purser root ${CLUSTER_USER}`),
  }
}

/**
 * The cluster in `dataFolder`/postgres, created when there is none.
 * @throws ConfigError when it cannot be created or belongs to somebody else
 */
export async function prepareCluster(dataFolder: string): Promise<Cluster> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  const root = join(resolve(dataFolder), 'postgres')
  await mkdir(root, { recursive: true })
  // Ours to write, and PostgreSQL's user goes through it from the cluster to the libraries.
  await chmod(root, 0o711)
  const links = join(root, 'lib')
  const folder = join(root, 'cluster')
  const cluster = {
    folder,
    log: join(root, 'server.log'),
    binaries: await preparePostgresBinaries(links),
    links,
    runAs: chooseUser(folder),
    access: await writeAccess(root),
  }
  await createFolderOnce(folder, initialize(cluster))
  return cluster
}
