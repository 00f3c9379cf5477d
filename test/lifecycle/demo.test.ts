import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const run = promisify(execFile)
const purser = useRunningPurser()

test('the demo runs on the service of the given data folder', async () => {
  const folder = purser().dataFolder
  const { stdout } = await run(process.execPath, [CLI, 'demo', '--data', folder])
  expect(stdout).toContain('2. An operation that pays in tokens.')
  expect(stdout).not.toContain('No running service')
})

test('it says that the service which wrote the file does not run any more', async () => {
  const folder = makeDataFolder()
  const info = { ...purser().info, rpcUrl: 'http://127.0.0.1:1' }
  writeFileSync(join(folder, 'dev.json'), JSON.stringify(info))
  await expect(run(process.execPath, [CLI, 'demo', '--data', folder])).rejects.toMatchObject({
    stderr: expect.stringContaining('No running service found'),
  })
  removeDataFolder(folder)
})

test('it says where it has looked for a service', async () => {
  const nowhere = join('/', 'nowhere')
  await expect(run(process.execPath, [CLI, 'demo', '--data', nowhere])).rejects.toMatchObject({
    stderr: expect.stringContaining(join(nowhere, 'dev.json')),
  })
})
