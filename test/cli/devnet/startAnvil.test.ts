import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Address, parseEther } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import { readRecord, writeRecord } from '../../../src/cli/devnet/anvilRecord.js'
import { DevChainError } from '../../../src/cli/devnet/devChainError.js'
import { devWallet } from '../../../src/cli/devnet/devWallet.js'
import { fundAccount } from '../../../src/cli/devnet/fundAccount.js'
import { commandLineOf } from '../../../src/cli/devnet/processIdentity.js'
import { type Anvil, type AnvilOptions, startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { silent as logger } from '../../support/logger.js'
import { quietPort } from '../../support/quietPort.js'
import { descendantsOf, isAlive } from '../../support/service/processes.js'
import { until } from '../../support/until.js'

const FRIEND: Address = '0x00000000000000000000000000000000000f71e0'
const CHAIN_ID = 31337

let dataDir: string
const running: Anvil[] = []

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'purser-test-'))
})

afterEach(async () => {
  for (const anvil of running.splice(0)) await anvil.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(options: Partial<AnvilOptions> = {}): Promise<Anvil> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, logger, ...options })
  running.push(anvil)
  return anvil
}

const recordFile = (): string => join(dataDir, `chain-${CHAIN_ID}.process.json`)

async function transfer(rpcUrl: string) {
  const wallet = await devWallet(rpcUrl)
  const hash = await wallet.sendTransaction({ to: FRIEND, value: 1n })
  return wallet.waitForTransactionReceipt({ hash })
}

async function funderNonce(rpcUrl: string): Promise<number> {
  const wallet = await devWallet(rpcUrl)
  return wallet.getTransactionCount({ address: wallet.account.address, blockTag: 'pending' })
}

/** A process of its own that starts a chain in `dataDir`, prints it, and then does `after`. */
async function startElsewhere(after: string) {
  const module = new URL('../../../dist/cli/devnet/startAnvil.js', import.meta.url)
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { startAnvil } from ${JSON.stringify(module.href)}
      const logger = { info() {}, error() {} }
      const options = { chainId: ${CHAIN_ID}, dataDir: ${JSON.stringify(dataDir)}, logger }
      const anvil = await startAnvil(options)
      console.log(JSON.stringify(anvil))
      ${after}`,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    },
  )
  const ended = once(child, 'exit')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, ended, anvil: JSON.parse(line) as { rpcUrl: string; pid: number } }
}

test('serves the asked chain on the loopback interface and is gone after stop', async () => {
  const anvil = await start({ chainId: 4242 })
  expect(anvil.rpcUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await anvilClient(anvil.rpcUrl).getChainId()).toBe(4242)
  await anvil.stop()
  expect(isAlive(anvil.pid)).toBe(false)
  await expect(anvilClient(anvil.rpcUrl).getChainId()).rejects.toThrow()
})

test('runs two chains side by side, also in one data directory', async () => {
  const one = await start({ chainId: 1001, dataDir })
  const two = await start({ chainId: 1002, dataDir })
  await fundAccount(one.rpcUrl, FRIEND, 5n)
  expect(await anvilClient(one.rpcUrl).getChainId()).toBe(1001)
  expect(await anvilClient(two.rpcUrl).getChainId()).toBe(1002)
  expect(await anvilClient(one.rpcUrl).getBalance({ address: FRIEND })).toBe(5n)
  expect(await anvilClient(two.rpcUrl).getBalance({ address: FRIEND })).toBe(0n)
})

test('mines each transaction at once, or by time when a block time is given', async () => {
  const atOnce = await start()
  const byTime = await start({ blockTime: 60 })
  expect(await anvilClient(atOnce.rpcUrl).getAutomine()).toBe(true)
  expect(await anvilClient(byTime.rpcUrl).getAutomine()).toBe(false)
})

test('keeps blocks, receipts, balances, nonces and the port over a restart', async () => {
  const port = await quietPort()
  writeRecord(recordFile(), { pid: 2 ** 30, commandLine: 'gone', port, settings: '' })
  const first = await start({ dataDir })
  expect(first.rpcUrl).toBe(`http://127.0.0.1:${port}`)
  const receipt = await transfer(first.rpcUrl)
  const block = await anvilClient(first.rpcUrl).getBlock()
  await anvilClient(first.rpcUrl).setBalance({ address: FRIEND, value: parseEther('7') })
  const nonce = await funderNonce(first.rpcUrl)
  await first.stop()

  const second = await start({ dataDir })
  const client = anvilClient(second.rpcUrl)
  expect(second.rpcUrl).toBe(first.rpcUrl)
  expect(second.pid).not.toBe(first.pid)
  expect((await client.getBlock()).hash).toBe(block.hash)
  expect(await client.getTransactionReceipt({ hash: receipt.transactionHash })).toEqual(receipt)
  expect(await client.getBalance({ address: FRIEND })).toBe(parseEther('7'))
  expect(await funderNonce(second.rpcUrl)).toBe(nonce)
  expect((await transfer(second.rpcUrl)).blockNumber).toBe(block.number + 1n)
})

test('takes another port when its old one belongs to somebody else', async () => {
  const first = await start({ dataDir })
  const { transactionHash } = await transfer(first.rpcUrl)
  await first.stop()
  // The port that was freed may be anybody's by now: this one is taken for sure.
  const stranger = createServer().listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const { port } = stranger.address() as AddressInfo
  writeRecord(recordFile(), { ...readRecord(recordFile())!, port })
  try {
    const second = await start({ dataDir })
    expect(new URL(second.rpcUrl).port).not.toBe(String(port))
    const client = anvilClient(second.rpcUrl)
    expect((await client.getTransactionReceipt({ hash: transactionHash })).status).toBe('success')
  } finally {
    stranger.close()
  }
})

test('loses nothing that was saved when anvil is killed', async () => {
  const first = await start({ dataDir })
  const { transactionHash } = await transfer(first.rpcUrl)
  const saved = join(dataDir, `chain-${CHAIN_ID}.state.json`)
  await until(
    async () => existsSync(saved) && readFileSync(saved, 'utf8').includes(transactionHash),
  )
  process.kill(first.pid, 'SIGKILL')
  await until(async () => !isAlive(first.pid))

  const second = await start({ dataDir })
  const receipt = await anvilClient(second.rpcUrl).getTransactionReceipt({ hash: transactionHash })
  expect(receipt.status).toBe('success')
})

test('adopts an anvil that outlived its killed owner, with its pending transactions', async () => {
  const { child, ended, anvil } = await startElsewhere('')
  const client = anvilClient(anvil.rpcUrl)
  await client.setAutomine(false)
  const wallet = await devWallet(anvil.rpcUrl)
  const hash = await wallet.sendTransaction({ to: FRIEND, value: 1n })
  child.kill('SIGKILL')
  await ended
  expect(isAlive(anvil.pid)).toBe(true)

  const adopted = await start({ dataDir })
  expect(adopted).toMatchObject(anvil)
  expect((await client.getTransaction({ hash })).blockNumber).toBe(null)
  await adopted.stop()
  expect(isAlive(anvil.pid)).toBe(false)
})

test('saves and ends a survivor that was started with other settings', async () => {
  const { child, ended, anvil } = await startElsewhere('')
  const { transactionHash } = await transfer(anvil.rpcUrl)
  child.kill('SIGKILL')
  await ended

  const second = await start({ dataDir, blockTime: 60 })
  expect(second.pid).not.toBe(anvil.pid)
  expect(isAlive(anvil.pid)).toBe(false)
  const receipt = await anvilClient(second.rpcUrl).getTransactionReceipt({ hash: transactionHash })
  expect(receipt.status).toBe('success')
})

test('leaves a process alone that got the recorded id later', async () => {
  const first = await start({ dataDir })
  await first.stop()
  const record = JSON.parse(readFileSync(recordFile(), 'utf8'))
  const stranger = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'])
  try {
    writeFileSync(recordFile(), JSON.stringify({ ...record, pid: stranger.pid }))
    const second = await start({ dataDir })
    expect(second.pid).not.toBe(stranger.pid)
    expect(isAlive(stranger.pid!)).toBe(true)
  } finally {
    stranger.kill()
    await once(stranger, 'exit')
  }
})

test('starts anew when the record cannot be read', async () => {
  writeFileSync(recordFile(), '{"pid":')
  const anvil = await start({ dataDir })
  expect(await anvilClient(anvil.rpcUrl).getChainId()).toBe(CHAIN_ID)
})

test('a process that exits without stopping its chain leaves none behind', async () => {
  const { ended, anvil } = await startElsewhere('process.exit(3)')
  // It may be over before its line has come.
  await ended
  await until(async () => !isAlive(anvil.pid))
})

test('a refused start gives one sentence and leaves no process', async () => {
  const before = descendantsOf(process.pid)
  const failure = await start({ hardfork: 'nonsense' }).catch((error) => error)
  expect(failure).toBeInstanceOf(DevChainError)
  expect(failure.message).toMatch(/^The embedded chain ended: .*nonsense/)
  expect(failure.message).not.toContain('\n')
  // Those of the database that tests share come and go.
  const isNew = (pid: number) =>
    !before.includes(pid) && !(commandLineOf(pid) ?? 'postgres').includes('postgres')
  expect(descendantsOf(process.pid).filter(isNew)).toEqual([])
})

test('a damaged state file is named', async () => {
  const stateFile = join(dataDir, `chain-${CHAIN_ID}.state.json`)
  writeFileSync(stateFile, '{"block":')
  await expect(start({ dataDir })).rejects.toThrow(stateFile)
})

test('stop can be called twice', async () => {
  const anvil = await start({ dataDir })
  await Promise.all([anvil.stop(), anvil.stop()])
  expect(isAlive(anvil.pid)).toBe(false)
})
