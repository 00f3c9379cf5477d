import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    databaseFolder: string
  }
}

/**
 * Waits until we close its input or die. Then it ends what a test that failed or was killed left
 * running (processes that inherited the run's name, or work below its folder) and removes the folder.
 */
const WATCHDOG = `
cat >/dev/null
for process in /proc/[0-9]*; do
  grep -qa vitest "$process/cmdline" 2>/dev/null && continue
  if grep -qaF "PURSER_TEST_RUN=$1" "$process/environ" 2>/dev/null; then
    kill -KILL "\${process#/proc/}"
  else
    case "$(readlink "$process/cwd" 2>/dev/null)" in
      "$1"/*) kill -QUIT "\${process#/proc/}" ;;
    esac
  fi
done
pid=$(head -n 1 "$1/database/postgres/cluster/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
[ -e "$1/kept" ] || rm -rf "$1"
`

/**
 * One folder for all that a run of tests writes: the PostgreSQL that its tests share, which the
 * first one that needs it starts, and every temporary folder. It is gone after the run with all
 * processes of the run, even when the run is killed; see `keptFolders.ts` for when it stays.
 */
export default (project: TestProject): (() => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-run-'))
  // Some tests run programs as another user, below it.
  chmodSync(folder, 0o711)
  const watchdog = spawn('sh', ['-c', WATCHDOG, 'watchdog', folder], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // Ctrl-C ends the tests, not what cleans up after them.
    detached: true,
  })
  const done = once(watchdog, 'exit')
  process.env.TMPDIR = folder
  process.env.PURSER_TEST_RUN = folder
  project.provide('databaseFolder', join(folder, 'database'))
  return async () => {
    watchdog.stdin.end()
    await done
  }
}
