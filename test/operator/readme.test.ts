import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const purser = useRunningPurser()
const folder = makeDataFolder()
afterAll(() => removeDataFolder(folder))

test("the README's viem program runs as printed, from the file and folder that it names", async () => {
  const readme = readFileSync('README.md', 'utf8')
  const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  expect(readme).toContain('`first.mjs`')
  expect(program).toContain('pollingInterval: 200')
  mkdirSync(join(folder, '.purser'))
  copyFileSync(join(purser().dataFolder, 'dev.json'), join(folder, '.purser/dev.json'))
  // What `npm install viem` would put there.
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('node_modules/viem'), join(folder, 'node_modules/viem'))
  writeFileSync(join(folder, 'first.mjs'), program)
  const run = promisify(execFile)(process.execPath, ['first.mjs'], { cwd: folder })
  const [success, hash] = (await run).stdout.trim().split(' ')
  expect(success).toBe('true')
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
})
