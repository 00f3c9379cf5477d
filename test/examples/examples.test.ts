import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { type Address, type Hex, parseAbiItem } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeKernel } from '../clients/support/placeKernel.js'
import { placeSafe } from '../clients/support/placeSafe.js'
import { chromiumPath, openBrowser, openContext } from '../console/browser.js'
import { quietPort } from '../support/quietPort.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * Every example as it stands against `purser dev`. What is on public chains is put on the development chain first: the
 * contracts of Safe and, with models of its meta factory and ECDSA validator, those of Kernel.
 */
const run = promisify(execFile)
const purser = useRunningPurser(['--biconomy'])
const children: ChildProcess[] = []
const event = parseAbiItem(
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
)

beforeAll(async () => {
  await placeSafe(purser().info.rpcUrl)
  await placeKernel(purser().info.rpcUrl)
})
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
})

function environment() {
  return { ...process.env, PURSER_DEV: join(purser().dataFolder, 'dev.json') }
}

/** The lines that a program of an example prints. */
async function linesOf(folder: string, program = 'index.mjs'): Promise<readonly string[]> {
  const options = { cwd: `examples/${folder}`, env: environment() }
  const { stdout } = await run(process.execPath, [program], options)
  return stdout.trim().split('\n')
}

/** Starts a program of an example that runs until it is ended. @returns where it listens */
async function listening(folder: string, args: readonly string[], own = {}): Promise<string> {
  // Colours, which some programs print in CI, would stand between the parts of a URL.
  const env = { ...environment(), NO_COLOR: '1', ...own }
  const child = spawn(process.execPath, args, { cwd: `examples/${folder}`, env })
  children.push(child)
  child.stderr.pipe(process.stderr)
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (url !== undefined) {
      child.stdout.resume()
      return url
    }
  }
  throw new Error(`${folder} ended.`)
}

/** Asks the chain, not the example, whether each operation was included, and who paid. */
async function expectPaid(lines: readonly string[], payer: Address | undefined, count = 1) {
  const hashes = lines.flatMap((line) => /^operation (0x[0-9a-f]{64})$/.exec(line)?.[1] ?? [])
  expect(hashes).toHaveLength(count)
  expect(lines.filter((line) => line.startsWith('success true'))).toHaveLength(count)
  for (const hash of hashes) {
    const args = { userOpHash: hash as Hex }
    const logs = await nodeClient(purser().info).getLogs({ event, args, fromBlock: 0n })
    expect(logs.map((log) => log.args)).toMatchObject([{ success: true }])
    expect(logs[0]?.args.paymaster?.toLowerCase()).toBe(payer)
    expect(lines).toContain(`transaction ${logs[0]?.transactionHash}`)
  }
}

test('every folder is installed, listed, tested here, and has a README of at most ten lines of text', () => {
  const workspaces: string[] = JSON.parse(readFileSync('examples/package.json', 'utf8')).workspaces
  const folders = readdirSync('examples', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .map(({ name }) => name)
  expect([...workspaces].sort()).toEqual(folders.sort())
  const index = readFileSync('examples/README.md', 'utf8')
  const tests = readFileSync('test/examples/examples.test.ts', 'utf8')
  for (const folder of folders) {
    expect(index).toContain(`](${folder})`)
    expect(tests).toContain(`'${folder}'`)
    const text = readFileSync(`examples/${folder}/README.md`, 'utf8').split('\n')
    expect(text.filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(12)
    for (const [, link = ''] of text.join('\n').matchAll(/\]\(([^)#]+)/g))
      expect(existsSync(join('examples', folder, link)), `${folder}: ${link}`).toBe(true)
  }
})

test('viem and EIP-7702', async () => {
  const lines = await linesOf('viem-7702')
  await expectPaid(lines, purser().info.tanks['0.8'])
  expect(lines.at(-1)).toMatch(/^ether of 0x\w{40}: 0$/)
})

test('permissionless pays in tokens', async () => {
  const lines = await linesOf('permissionless-erc20')
  await expectPaid(lines, purser().info.tokenTanks['0.7'])
  expect(Number(/^paid (\S+) tUSD$/m.exec(lines.join('\n'))?.[1])).toBeGreaterThan(0)
  expect(lines.at(-1)).toMatch(/: 0$/)
})

test('a Safe of two owners', async () => {
  const lines = await linesOf('safe')
  await expectPaid(lines, purser().info.tanks['0.7'], 2)
  expect(lines.at(-1)).toMatch(/: 0$/)
})

test('Kernel', async () => {
  const lines = await linesOf('kernel')
  await expectPaid(lines, purser().info.tanks['0.7'])
  expect(lines.at(-1)).toMatch(/: 0$/)
})

test('a Biconomy V2 app', async () => {
  await expectPaid(await linesOf('biconomy-v2'), purser().info.tanks['0.6'])
})

test('a webhook approves the first operation of a user and refuses the second', async () => {
  const commands = commandsOn(purser().dataFolder, {})
  const [app] = rowsOf(await commands.answer('app', 'list'))
  const port = String(await quietPort())
  const url = `http://127.0.0.1:${port}`
  const flags = ['--app', app?.id ?? '', '--url', url, '--request', 'POST', '--json']
  const allow = ['--webhook-allow', '127.0.0.1']
  const created = JSON.parse(await commands.answer('webhook', 'create', ...flags, ...allow))
  const own = { WEBHOOK_SECRET: created.signingSecret, PORT: port }
  expect(await listening('webhook-approver', ['approver.mjs'], own)).toBe(url)
  const lines = await linesOf('webhook-approver', 'try.mjs')
  await expectPaid(lines, purser().info.tanks['0.8'])
  expect(lines.at(-1)).toMatch(/^refused .*One operation in ten seconds\./)

  // Nobody but Purser is answered.
  const stranger = await fetch(url, { method: 'POST', body: '{"data":{"user":"eve"}}' })
  expect(stranger.status).toBe(401)
})

describe.skipIf(chromiumPath === undefined)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  /** Opens an example and presses its buttons in turn. @returns what it shows at last */
  async function press(folder: string, buttons: readonly string[]): Promise<readonly string[]> {
    const vite = join(process.cwd(), 'examples/node_modules/vite/bin/vite.js')
    const url = await listening(folder, [
      vite,
      '--host',
      '127.0.0.1',
      '--port',
      '0',
      '--clearScreen',
      'false',
    ])
    const context = await openContext(browser)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(url)
    for (const name of buttons) await page.getByRole('button', { name }).click()
    const shown = page.locator('output', { hasText: /^(success|\w+ failed)/ })
    await shown.waitFor()
    const text = (await shown.textContent()) ?? ''
    expect(errors).toEqual([])
    await context.close()
    return text.split('\n')
  }

  test('wagmi sends calls that the paymasterService pays', async () => {
    const buttons = ['Connect Development wallet', 'Send two calls']
    await expectPaid(await press('wagmi-send-calls', buttons), purser().info.tanks['0.8'])
  })

  test('the React button', async () => {
    const lines = await press('react-gasless-button', ['Collect the point'])
    await expectPaid(lines, purser().info.tanks['0.8'])
  })
})
