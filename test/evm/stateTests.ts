import { describe, expect, it } from 'vitest'
import { shareOf } from '../support/runs.js'
import { DRAFT_BLS } from './draftBls.js'
import { forkOf, runCase, type StateTest } from './stateTest.js'
import { exceptionFor } from './vectorExceptions.js'
import { findVectors, readVectors, VECTORS_ABSENT, type VectorFile } from './vectors.js'

const FOLDER_TIMEOUT = 300_000
/** JSON files in the archive. */
const FILES = 4107

/** Tests for every `shards`-th file of the official vectors, one per folder; a share of its files, at least one. */
export function describeStateTests(shard: number, shards: number): void {
  describe(`official state tests, part ${shard + 1} of ${shards}`, () => {
    const archive = findVectors()
    if (archive === undefined) {
      it.skip(VECTORS_ABSENT, () => {})
      return
    }
    const files = readVectors(archive, (index) => index % shards === shard)
    it('finds the whole archive', () => {
      expect(files).toHaveLength(Math.ceil((FILES - shard) / shards))
    })
    const folders = new Map<string, VectorFile[]>()
    for (const file of files) {
      const folder = file.path.slice(0, file.path.lastIndexOf('/'))
      folders.set(folder, [...(folders.get(folder) ?? []), file])
    }
    it.each([...folders])('%s', { timeout: FOLDER_TIMEOUT }, (_, inFolder) => {
      expect(shareOf(inFolder).flatMap(failuresOf)).toEqual([])
    })
  })
}

/** What went wrong in a file, for every fork from Shanghai on. */
function failuresOf({ path, text }: VectorFile): string[] {
  const declines = exceptionFor(path)?.outcome
  const precompiles = path.includes('stEIP2537') ? DRAFT_BLS : undefined
  const failures: string[] = []
  for (const test of Object.values(JSON.parse(text) as Record<string, StateTest>)) {
    for (const [name, cases] of Object.entries(test.post)) {
      const fork = forkOf(name)
      if (fork === undefined) continue
      for (const expected of cases) {
        const failure = runCase(test, fork, expected, declines, precompiles)
        if (failure === undefined) continue
        failures.push(`${path} ${name} ${JSON.stringify(expected.indexes)}: ${failure}`)
      }
    }
  }
  return failures
}
