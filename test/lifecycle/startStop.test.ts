import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
    '%s ends it cleanly within 5 s and leaves no child process',
    (signal) =>
      withFolder(async (folder) => {
        const purser = await startPurser(folder)
        const children = descendantsOf(purser.info.pid)
        expect(children.length).toBeGreaterThanOrEqual(2)
        const began = Date.now()
        const { code } = await purser.end(signal)
        expect(code).toBe(0)
        expect(Date.now() - began).toBeLessThan(5_000)
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
    [['dev', '--master-key', 'short'], /master/i],
    [['key', 'revoke', 'nonsense'], /nonsense/],
  ])('a missing or wrong setting ends with one sentence and exit code 1: %j', (args, text) =>
    withFolder(async (folder) => {
      const { code, stderr } = await runCli([...args, '--data', folder])
      expect(code).toBe(1)
      expect(expectOneSentence(stderr)).toMatch(text)
    }),
  )

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
    for (const word of ['--block-time', 'PURSER_BLOCK_TIME', 'blockTime', '--rpc-url', '--data']) {
      expect(stdout).toContain(word)
    }
  })
})
