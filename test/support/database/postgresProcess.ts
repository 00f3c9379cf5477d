import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'

const SCRIPT = `
const [program, dataFolder] = process.argv.slice(1)
const { startEmbeddedPostgres } = await import(program)
const logger = { info() {}, warn() {}, error() {} }
const postgres = await startEmbeddedPostgres(dataFolder, logger)
process.stdout.write('ready')
process.stdin.on('end', () => postgres.stop()).resume()
`

type Owner = {
  readonly process: ChildProcess
  /** Lets it stop its database and end. */
  readonly end: () => Promise<void>
}

/**
 * A process of its own that uses the embedded database in `dataFolder`.
 * @param checkout folder with `dist` and `node_modules`, ours by default
 * @throws Error with what it printed when it does not come up
 */
export async function ownPostgres(
  dataFolder: string,
  { checkout = '.', uid }: { checkout?: string; uid?: number } = {},
): Promise<Owner> {
  const program = join(resolve(checkout), 'dist/db/embedded/embeddedPostgres.js')
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, program, dataFolder],
    { stdio: ['pipe', 'pipe', 'pipe'], ...(uid === undefined ? {} : { uid, gid: uid }) },
  )
  const closed = once(child, 'close')
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const failed = closed.then(() => {
    throw new Error(`the process ended: ${errors}`)
  })
  await Promise.race([once(child.stdout, 'data'), failed])
  return {
    process: child,
    end: async () => {
      child.stdin.end()
      await closed
    },
  }
}
