import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const ARCHIVE = 'general-state-tests.tar.gz'

/** Where the official vectors lie, or undefined: the environment variable decides, else the neighbour. */
export function findVectors(): string | undefined {
  const folder = process.env.PURSER_EVM_VECTORS ?? join(process.cwd(), '../shared/vectors')
  const archive = join(folder, ARCHIVE)
  return existsSync(archive) ? archive : undefined
}

/** Said by tests that could not run. */
export const VECTORS_ABSENT = `did not run: no ${ARCHIVE} in $PURSER_EVM_VECTORS or ../shared/vectors`

export type VectorFile = { path: string; text: string }

/** The JSON files of the archive, sorted by path; read in memory, nothing is unpacked to disk. */
export function readVectors(archive: string, wanted: (index: number) => boolean): VectorFile[] {
  const files = entries(gunzipSync(readFileSync(archive)))
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return files
    .filter((_, index) => wanted(index))
    .map(({ path, body }) => ({ path, text: body.toString('utf8') }))
}

const BLOCK = 512
const EXTENDED_HEADER = 'x'

/** Regular .json files of a tar archive (ustar, with extended headers for long names). */
function entries(tar: Buffer): { path: string; body: Buffer }[] {
  const found: { path: string; body: Buffer }[] = []
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK)
    const size = Number.parseInt(text(header, 124, 12), 8)
    const type = text(header, 156, 1)
    const body = tar.subarray(at + BLOCK, at + BLOCK + size)
    const prefix = text(header, 345, 155)
    const path = longName ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100)
    longName =
      type === EXTENDED_HEADER ? /(?:^|\n)\d+ path=(.*)\n/.exec(body.toString())?.[1] : undefined
    if ((type === '0' || type === '') && path.endsWith('.json')) found.push({ path, body })
    at += BLOCK + BLOCK * Math.ceil(size / BLOCK)
  }
  return found
}

function text(bytes: Buffer, at: number, size: number): string {
  const field = bytes.subarray(at, at + size)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? size : end).trim()
}
