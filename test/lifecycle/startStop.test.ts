import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectOneSentence } from '../support/service/cliAnswers.js'
import { descendantsOf, isAlive } from '../support/service/processes.js'
import {
  makeDataFolder,
  removeDataFolder,
  runCli,
  startPurser,
} from '../support/service/startPurser.js'

async function withFolder(run: (folder: string) => Promise<void>) {
  const folder = makeDataFolder()
  try {
    await run(folder)
  } finally {
    removeDataFolder(folder)
  }
}

describe('start and stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends it cleanly and leaves no child process',
    (signal) =>
      withFolder(async (folder) => {
        const purser = await startPurser(folder)
        const children = descendantsOf(purser.info.pid)
        expect(children.length).toBeGreaterThanOrEqual(2)
        const { code } = await purser.end(signal)
        expect(code).toBe(0)
        expect(children.filter(isAlive)).toEqual([])
      }),
  )

  test('a second start on the same data directory ends with one sentence and exit code 1', () =>
    withFolder(async (folder) => {
      const purser = await startPurser(folder)
      try {
        const { code, stderr } = await runCli(['dev', '--data', folder, '--port', '0'])
        expect(code).toBe(1)
        expect(expectOneSentence(stderr)).toMatch(/already/i)
        const answer = await fetch(`${purser.info.url}/health`)
        expect(answer.status).toBe(200)
      } finally {
        await purser.end('SIGTERM')
      }
    }))

  test('a taken port ends with one sentence and exit code 1, and leaves nothing running', () =>
    withFolder(async (folder) => {
      const blocker = createServer()
      await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = blocker.address() as AddressInfo
        const { code, stderr } = await runCli([
          'dev',
          '--data',
          folder,
          '--port',
          String(port),
          '--log-level',
          'error',
        ])
        expect(code).toBe(1)
        expect(expectOneSentence(stderr)).toContain(String(port))
      } finally {
        blocker.close()
      }
      const purser = await startPurser(folder)
      expect((await purser.end('SIGTERM')).code).toBe(0)
    }))

  test.each([
    [['serve'], /chain/i],
    [['dev', '--port', 'many'], /--port/],
    [['dev', '--rpc-url', 'http://127.0.0.1:1'], /127\.0\.0\.1:1/],
    [['dev', '--config', '/no/such/file'], /cannot be read/],
    [['key', 'revoke', 'nonsense'], /no Purser database/],
  ])('a missing or wrong setting ends with one sentence and exit code 1: %j', (args, text) =>
    withFolder(async (folder) => {
      const { code, stderr } = await runCli([...args, '--data', folder])
      expect(code).toBe(1)
      expect(expectOneSentence(stderr)).toMatch(text)
    }),
  )

  test('a secret that stands in a flag is warned about, one in a file is not', () =>
    withFolder(async (folder) => {
      const flag = await runCli(['account', 'list', '--master-key', 'short', '--data', folder])
      const [warning = '', ...others] = flag.stderr.trim().split('\n')
      expect(warning).toMatch(/^Warning: .*--master-key.*PURSER_MASTER_KEY_FILE/)
      expect(expectOneSentence(others.join('\n'))).toMatch(/master/i)
      const file = join(folder, 'secret')
      writeFileSync(file, 'short\n')
      const { stderr } = await runCli(['account', 'list', '--data', folder], {
        PURSER_MASTER_KEY_FILE: file,
      })
      expect(expectOneSentence(stderr)).toMatch(/master/i)
    }))

  test('the data folder is closed to others, also one that was open before', () =>
    withFolder(async (folder) => {
      const known = join(folder, 'known')
      mkdirSync(join(known, 'postgres'), { recursive: true, mode: 0o755 })
      for (const data of [known, join(folder, 'new')]) {
        await runCli(['dev', '--data', data], { PURSER_MASTER_KEY: 'short' })
        expect(statSync(data).mode & 0o777).toBe(0o700)
      }
    }))

  test.each([
    [],
    ['dev'],
    ['serve'],
    ['account'],
    ['app', 'create'],
    ['key', 'revoke'],
    ['tank', 'deposit'],
    ['migrate'],
  ])('--help is there: purser %s %s', async (...words) => {
    const { code, stdout } = await runCli([...words, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: purser')
  })

  test('--help of dev names flag, variable and file key of each option', async () => {
    const { stdout } = await runCli(['dev', '--help'])
    for (const word of ['--log-level', 'PURSER_LOG_LEVEL', 'logLevel', '--rpc-url', '--data'])
      expect(stdout).toContain(word)
  })
})
