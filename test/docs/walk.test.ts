import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processesOn } from '../support/service/processes.js'
import { until } from '../support/until.js'
import { blocksOf, pages } from './pages.js'
import { createWalker, type Walker } from './walker.js'

/*
 * Does everything that the README and the docs print, in an empty folder, from the packed tarball, on the Node that
 * runs the tests and on the next long-term one. Needs npm's registry, minutes and the ports 4337 and 4338, so it
 * belongs to `npm run test:docs`; pages.test.ts is its short form.
 */
const isWanted = process.env.PURSER_WALK === 'full'
const SECOND_NODE = '22'

const run = promisify(execFile)
let home = ''

beforeAll(async () => {
  if (!isWanted) return
  home = mkdtempSync(join(tmpdir(), 'purser-walk-'))
  chmodSync(home, 0o711)
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', home])
}, 300_000)

afterAll(() => {
  if (isWanted) rmSync(home, { recursive: true, force: true })
}, 600_000)

/** The folder with the program `node` of that version, from npm. */
async function folderOfNode(version: string): Promise<string> {
  const flags = ['--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', '--prefix', join(home, 'node'), ...flags, `node@${version}`])
  return join(home, 'node/node_modules/node/bin')
}

/** The environment of a user's shell: without what npm, the tests and Purser's own options put there. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(npm_|VITEST|NODE_ENV|NODE_OPTIONS|DATABASE_URL|PURSER_(?!TEST_RUN))/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

async function walkAll(walker: Walker): Promise<readonly string[]> {
  const protocol: string[] = []
  for (const page of pages)
    for (const block of blocksOf(page).filter(({ language }) => language !== 'mermaid')) {
      const line = await walker.walk(block)
      process.stdout.write(`${line}\n`)
      protocol.push(line)
    }
  return protocol
}

async function walkOn(node: string): Promise<void> {
  const PATH = `${node}${delimiter}${process.env.PATH}`
  const version = execFileSync(join(node, 'node'), ['--version']).toString().trim()
  process.stdout.write(`Node ${version}\n`)
  const folder = join(home, `empty-${version}`)
  mkdirSync(folder)
  const [tarball = ''] = (await run('sh', ['-c', 'ls *.tgz'], { cwd: home })).stdout.split('\n')
  await run('cp', [join(home, tarball), folder])
  const walker = createWalker(folder, { ...ownEnvironment(), PATH })
  try {
    const protocol = await walkAll(walker)
    expect(protocol.filter((line) => !/not run|left out/.test(line)).length).toBeGreaterThan(12)
  } finally {
    await walker.stop()
  }
  await until(async () => processesOn(folder).length === 0)
}

describe.skipIf(!isWanted)('a user who does what the pages print', () => {
  test('succeeds on this Node', () => walkOn(dirname(process.execPath)), 1_200_000)
  test('succeeds on the next Node', async () => walkOn(await folderOfNode(SECOND_NODE)), 1_200_000)
})
