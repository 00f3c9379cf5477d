import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    databaseFolder: string
  }
}

/** Waits until we close its input or die, then ends the server and removes the folder. */
const GUARDIAN = `
cat >/dev/null
pid=$(head -n 1 "$1/postgres/cluster/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" &&
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
rm -rf "$1"
`

/**
 * The folder of the one PostgreSQL that all tests of a run share. The first test that needs it
 * starts it; what is in the folder is gone after the run, even when the run is killed.
 */
export default (project: TestProject): (() => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-tests-'))
  const guardian = spawn('sh', ['-c', GUARDIAN, 'guardian', folder], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // Ctrl-C ends the tests, not what cleans up after them.
    detached: true,
  })
  const done = once(guardian, 'exit')
  project.provide('databaseFolder', folder)
  return async () => {
    guardian.stdin.end()
    await done
  }
}
