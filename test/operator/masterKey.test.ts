import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { rpc } from '../support/http/jsonRpc.js'
import { commandsOn, expectOneSentence, labelled } from '../support/service/cliAnswers.js'
import { devAccount } from '../support/service/devAccount.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const external = useDatabase()
let chain: PublicChain
const folders: string[] = []
/** The key that the database has after its first one was lost. */
let adoptedKey = ''
const running: RunningService[] = []

beforeAll(async () => {
  chain = await startPublicChain(1_501)
})
afterAll(async () => {
  for (const service of running) await service.end('SIGTERM')
  await chain.stop()
  for (const folder of folders) removeDataFolder(folder)
})

function newFolder(): string {
  const folder = makeDataFolder()
  folders.push(folder)
  return folder
}

/** The environment of an operator whose database is the test's own and who set no master key. */
function environment(more: Record<string, string> = {}) {
  const { chainId, rpcUrl } = chain
  const own = {
    chainId,
    rpcUrls: [rpcUrl],
    executorKeys: ['env:EXECUTOR'],
    facts: { pollInterval: 50 },
  }
  return {
    DATABASE_URL: databaseUrlOf(external()),
    EXECUTOR: devKey(1),
    OWNER: devKey(3),
    PURSER_CHAINS: JSON.stringify([own]),
    ...more,
  }
}

const quiet = ['--port', '0', '--log-level', 'warn', '--drain-seconds', '0']

async function serve(folder: string, more: Record<string, string> = {}): Promise<RunningService> {
  const args = ['serve', '--data', folder, ...quiet]
  const service = await startService(args, environment(more))
  running.push(service)
  return service
}

/** The sentence of a service that refuses to start. */
async function serveRefused(folder: string, more: Record<string, string> = {}): Promise<string> {
  const args = ['serve', '--data', folder, ...quiet, '--log-level', 'silent']
  const { code, stdout, stderr } = await runCli(args, environment(more))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  return expectOneSentence(stderr)
}

async function deposits(): Promise<number> {
  const rows = await external().database.selectFrom('tanks').select('id').execute()
  return rows.length
}

const target = (appId: string) => ['--app', appId, '--chain', String(chain.chainId)]
const filling = ['--amount', '1', '--key', 'env:OWNER']

describe('a database with a key of its own', () => {
  const home = newFolder()
  let appId = ''
  let apiKey = ''
  let service: RunningService
  beforeAll(async () => {
    service = await serve(home)
    const tenant = await commandsOn(home, environment()).tenant('first week')
    appId = tenant.appId
    apiKey = tenant.apiKey
  })

  test('a deposit from another folder is refused before any money moves, and makes no key there', async () => {
    const wrong = newFolder()
    const { refusal } = commandsOn(wrong, environment())
    const sentence = await refusal('tank', 'deposit', ...target(appId), ...filling)
    expect(sentence).toContain(join(wrong, 'master.key'))
    expect(sentence).toContain('PURSER_MASTER_KEY')
    expect(readdirSync(wrong)).toEqual([])
    expect(await deposits()).toBe(0)
  })

  test('a command that needs no secret works there, and makes nothing', async () => {
    const wrong = newFolder()
    expect(await commandsOn(wrong, environment()).answer('account', 'list')).toContain('first week')
    expect(readdirSync(wrong)).toEqual([])
  })

  test('a service in another folder does not start, and makes no key', async () => {
    const wrong = newFolder()
    expect(await serveRefused(wrong)).toContain('no master key')
    expect(existsSync(join(wrong, 'master.key'))).toBe(false)
  })

  test('another key is refused by every command and by the service, and its place is named', async () => {
    const other = { PURSER_MASTER_KEY: 'ab'.repeat(32) }
    expect(await serveRefused(home, other)).toMatch(
      /master key \(PURSER_MASTER_KEY\) does not belong to this database/,
    )
    const commands = commandsOn(newFolder(), environment(other))
    for (const words of [
      ['account', 'list'],
      ['tank', 'deposit', ...target(appId), ...filling],
      ['tank', 'show', ...target(appId)],
      ['token', 'list', '--chain', String(chain.chainId)],
      ['webhook', 'list', '--app', appId],
      ['audit', 'list'],
    ])
      expect(await commands.refusal(...words)).toContain('does not belong to this database')
    expect(await deposits()).toBe(0)

    const file = newFolder()
    writeFileSync(join(file, 'master.key'), `${'cd'.repeat(32)}\n`)
    expect(await commandsOn(file, environment()).refusal('account', 'list')).toContain(
      join(file, 'master.key'),
    )
  })

  test('keys check says whether the key is right', async () => {
    const { run, answer } = commandsOn(home, environment())
    expect(labelled(await answer('keys', 'check'), 'the key of this database')).toBe('true')
    const wrong = await runCli(['keys', 'check', '--data', home], {
      ...environment(),
      PURSER_MASTER_KEY: 'ab'.repeat(32),
    })
    expect(wrong.code).toBe(1)
    expect(labelled(wrong.stdout, 'the key of this database')).toBe('false')
    expect((await run('account', 'list')).code).toBe(0)
  })

  test('a key that is lost is adopted knowingly; the tank is named, emptied and replaced', async () => {
    const { answer } = commandsOn(home, environment())
    const made = await answer('tank', 'deposit', ...target(appId), ...filling)
    const tank = labelled(made, 'tank')
    const view = {
      ...chain,
      bundlerUrl: `${urlOf(service)}/api/v2/${chain.chainId}/${apiKey}`,
      paymasterUrl: `${urlOf(service)}/api/v1/${chain.chainId}/${apiKey}`,
    }
    const before = await devAccount(view, 'before the loss')
    expect(await before.send(await before.sponsored())).toMatch(/^0x/)
    await service.end('SIGTERM')
    renameSync(join(home, 'master.key'), join(home, 'lost.key'))
    expect(await serveRefused(home)).toContain('no master key')
    expect(existsSync(join(home, 'master.key'))).toBe(false)

    const { stdout: key, code } = await runCli(['keys', 'new'])
    expect(code).toBe(0)
    expect(key).toMatch(/^[0-9a-f]{64}\n$/)
    adoptedKey = key.trim()
    const renewed = { PURSER_MASTER_KEY: adoptedKey }
    const commands = commandsOn(home, environment(renewed))
    expect(await serveRefused(home, renewed)).toContain('does not belong to this database')
    const adopted = await commands.answer('keys', 'adopt')
    expect(adopted).toContain(tank)
    expect(adopted).toContain('purser tank withdraw')
    expect(await commands.answer('audit', 'list')).toContain('keys.adopt')

    const after = await serve(home, renewed)
    await until(async () => after.output().includes(tank))
    expect((await commands.run('keys', 'check')).stdout).toContain(tank)
    expect(await commands.answer('tank', 'show', ...target(appId))).toMatch(/signer .* \(lost/)
    expect(await commands.refusal('tank', 'deposit', ...target(appId), ...filling)).toContain(
      'purser tank replace',
    )
    const url = `${urlOf(after)}/api/v1/${chain.chainId}/${apiKey}`
    const account = await devAccount({ ...view, bundlerUrl: url, paymasterUrl: url }, 'after')
    await expect(account.sponsored()).rejects.toThrow('TANK_SIGNER_LOST')

    const owned = [...target(appId), '--key', 'env:OWNER']
    expect(await commands.refusal('tank', 'replace', ...owned)).toContain('purser tank withdraw')
    const left = labelled(await commands.answer('tank', 'show', ...target(appId)), 'deposit')
    const [amount = ''] = left.split(' ')
    const emptied = await commands.answer(
      'tank',
      'withdraw',
      ...owned,
      '--amount',
      amount,
      '--reserved',
    )
    expect(labelled(emptied, 'deposit')).toBe('0 ETH')
    const replaced = await commands.answer('tank', 'replace', ...owned)
    expect(labelled(replaced, 'tank')).not.toBe(tank)
    await commands.answer('tank', 'deposit', ...target(appId), ...filling)
    expect((await account.sponsored()).paymaster).toBe(labelled(replaced, 'tank'))
    expect((await commands.run('keys', 'check')).code).toBe(0)
    expect(parseEther(amount)).toBeGreaterThan(0n)
  })
})

test('a database with accounts of which no key is recorded is not given a new key', async () => {
  const { database } = external()
  const recorded = await database.selectFrom('master_key').selectAll().executeTakeFirstOrThrow()
  await database.deleteFrom('master_key').execute()
  const folder = newFolder()
  expect(await serveRefused(folder)).toContain('no master key')
  expect(existsSync(join(folder, 'master.key'))).toBe(false)
  await database.insertInto('master_key').values(recorded).execute()
})

describe('a data folder that lost its key', () => {
  test('with accounts gets no new key', async () => {
    const folder = newFolder()
    const environment = {
      PURSER_CHAINS: JSON.stringify([
        { chainId: chain.chainId, rpcUrls: [chain.rpcUrl], executorKeys: [devKey(1)] },
      ]),
    }
    const service = await startService(['serve', '--data', folder, ...quiet], environment)
    await commandsOn(folder, environment).tenant('embedded')
    await service.end('SIGTERM')
    renameSync(join(folder, 'master.key'), join(folder, 'moved'))
    const { code, stderr } = await runCli(['serve', '--data', folder, ...quiet], environment)
    expect(code).toBe(1)
    expect(expectOneSentence(stderr)).toContain(join(folder, 'master.key'))
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
    renameSync(join(folder, 'moved'), join(folder, 'master.key'))
    const again = await startService(['serve', '--data', folder, ...quiet], environment)
    expect((await again.end('SIGTERM')).code).toBe(0)
  })
})

describe('two services that begin one database at once', () => {
  const fresh = useDatabase()

  test('from two folders have one key: the other one is refused', async () => {
    const own = newFolder()
    const other = newFolder()
    const shared = { DATABASE_URL: databaseUrlOf(fresh()) }
    const outcomes = await Promise.allSettled([serve(own, shared), serve(other, shared)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const keys = [own, other].filter((folder) => existsSync(join(folder, 'master.key')))
    expect(keys).toHaveLength(1)
    const { status } = await rpc(`${urlOf(running.at(-1)!)}/api/v2/1501/none`, 'eth_chainId', [])
    expect(status).toBe(401)
  })
})
