import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { keyFromSeed, toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Json } from '../support/http/jsonRpc.js'
import { devAccount, TARGET } from '../support/service/devAccount.js'
import { fund, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* Clients in other languages, each a program that hashes, signs and sends by itself and by one URL. */

const folderOf = (language: string) => fileURLToPath(new URL(language, import.meta.url))
const python = process.env.PURSER_PYTHON ?? 'python3'
const go = process.env.PURSER_GO

function runs(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The answer of a program that reads `input`. */
async function answerOf<Answer = Record<'selfPaid' | 'sponsored', object>>(
  command: string,
  args: readonly string[],
  input: object,
) {
  const program = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  program.stdin.end(JSON.stringify(input))
  const ended = new Promise((resolve, reject) => program.on('close', resolve).on('error', reject))
  const [out, err, exit] = await Promise.all([text(program.stdout), text(program.stderr), ended])
  if (exit !== 0) throw new Error(err)
  return JSON.parse(out) as Answer
}

const languages = [
  {
    name: 'Python with web3.py',
    version: '0.8',
    absence: runs(python, ['-c', 'import web3, eth_account'])
      ? undefined
      : `${python} has no web3; python3 -m venv /tmp/py && /tmp/py/bin/pip install -r test/clients/python/requirements.txt, then PURSER_PYTHON=/tmp/py/bin/python`,
    run: (input: object) => answerOf(python, [join(folderOf('python'), 'driver.py')], input),
  },
  {
    name: 'Go with go-ethereum',
    version: '0.7',
    absence:
      go === undefined
        ? 'its packages compile for minutes; PURSER_GO=go (or the path of another) compiles them'
        : undefined,
    run: async (input: object) => {
      const folder = mkdtempSync(join(tmpdir(), 'purser-go-'))
      try {
        const program = join(folder, 'driver')
        execFileSync(go!, ['build', '-o', program, '.'], { cwd: folderOf('go') })
        return await answerOf(program, [], input)
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  },
] as const
const present = languages.filter(({ absence }) => absence === undefined)

for (const { name, absence } of languages)
  if (absence !== undefined) test.skip(`${name} did not run: ${absence}`, () => {})

const hasPython = runs(python, ['--version'])
if (!hasPython)
  test.skip(`eth_sendUserOperationSync from Python did not run: no ${python}`, () => {})

if (present.length > 0 || hasPython)
  describe('clients in other languages', () => {
    const info = usePurser()

    test.runIf(hasPython)(
      'plain Python sends an operation and has its receipt in one answer',
      async () => {
        const account = await devAccount(info(), 'plain Python')
        const op = await account.selfPaid()
        const [userOpHash, operation] = [account.hashOf(op), toInterfaceOperation(op)]
        const { bundlerUrl: url, standardUrl } = info()
        const input = { url, entryPoint: account.entryPoint, operation }
        const sync = join(folderOf('python'), 'sync.py')
        type Answers = Record<'accepted' | 'included' | 'refused', Json>
        const classic = await answerOf<Answers>(python, [sync], input)
        expect(classic.included.result).toMatchObject({ userOpHash, success: 'true' })
        const standard = await answerOf<Answers>(python, [sync], { ...input, url: standardUrl })
        expect(standard.included.result).toMatchObject({ userOpHash, success: true })
        for (const { accepted, refused } of [classic, standard]) {
          expect(accepted.result).toBe(userOpHash)
          expect(refused.error.code).toBeLessThan(-32_000)
        }
      },
    )

    test.each(present)('$name pays for itself, and is sponsored', async ({ version, run }) => {
      const { standardUrl: url, entryPoints, factories, tanks } = info()
      const seed = `another language ${version}`
      const { address } = await simpleSmartAccount(info(), version, seed)
      await fund(info(), address)
      const ends = { entryPoint: entryPoints[version], factory: factories[version], target: TARGET }
      const receipts = await run({ url, ...ends, key: keyFromSeed(seed) })
      const sender = expect.stringMatching(new RegExp(address, 'i'))
      expect(receipts.selfPaid).toMatchObject({ sender, success: true })
      const paymaster = expect.stringMatching(new RegExp(tanks[version]!, 'i'))
      expect(receipts.selfPaid).not.toMatchObject({ paymaster })
      expect(receipts.sponsored).toMatchObject({ sender, success: true, paymaster })
    })
  })
