import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createTenant } from '../support/service/createTenant.js'
import { makeDataFolder, removeDataFolder, runCli } from '../support/service/startPurser.js'

const preload = pathToFileURL(resolve('test/support/service/loadedPackages.mjs'))

/** The packages that a command has loaded, `all of viem` for its index. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const { code, stderr } = await runCli(args, { NODE_OPTIONS: `--import ${preload}` })
  expect(code).toBe(0)
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as string[]
}

describe('what a command loads', () => {
  test.each(['--version', '--help'])('the parser alone for %s', async (flag) => {
    expect(await loadedBy(flag)).toEqual(['commander'])
  })

  test('nothing of the service for a command on the store', async () => {
    const data = makeDataFolder()
    try {
      await createTenant(data, 'light')
      const loaded = await loadedBy('account', 'create', '--name', 'light', '--data', data)
      expect(loaded).toContain('pg')
      for (const heavy of ['all of viem', 'hono', 'undici', 'prom-client', 'hash-wasm'])
        expect(loaded).not.toContain(heavy)
    } finally {
      removeDataFolder(data)
    }
  })

  test('no development chain for a service without one', async () => {
    const loaded = await loadedBy('serve', '--help')
    expect(loaded).toContain('hono')
    expect(loaded).not.toContain('all of viem')
  })

  test('all that a command consists of, when help is asked for it', async () => {
    const { stdout } = await runCli(['help', 'tank'])
    expect(stdout).toContain('withdraw')
  })
})
