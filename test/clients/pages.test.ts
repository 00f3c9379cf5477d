import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Address, type Hex, http } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksOf } from '../docs/pages.js'
import { balanceOf, depositOf } from '../support/chain/depositOf.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { safeFamily } from './support/safeFamily.js'

/*
 * The programs of the README and the docs as printed, from the file and folder that the pages name. The walk of
 * `npm run test:docs` also does what stands around them.
 */
const purser = useRunningPurser(['--biconomy'])
const folder = makeDataFolder()
afterAll(() => removeDataFolder(folder))

/** What the pages' `npm install` puts there. */
const packages = ['viem', '@biconomy/account']

beforeAll(() => {
  mkdirSync(join(folder, '.purser'))
  copyFileSync(join(purser().dataFolder, 'dev.json'), join(folder, '.purser/dev.json'))
  mkdirSync(join(folder, 'node_modules/@biconomy'), { recursive: true })
  for (const name of packages) {
    const places = ['test/clients/node_modules', 'node_modules'].map((place) =>
      resolve(place, name),
    )
    symlinkSync(places.find((place) => existsSync(place))!, join(folder, 'node_modules', name))
  }
})

/** Saves the program of a page under the name that the page gives it, runs it, and returns what it printed. */
async function runPrinted(page: string, name: string, ...args: string[]): Promise<string> {
  const block = blocksOf(page).find(({ way }) => way.kind === 'file' && way.name === name)
  if (block === undefined) throw new Error(`${page} has no program ${name}.`)
  writeFileSync(join(folder, name), block.text)
  const { stdout } = await promisify(execFile)(process.execPath, [name, ...args], { cwd: folder })
  return stdout.trim()
}

test("the quick start's second.mjs sends a sponsored operation", async () => {
  const [success, hash] = (await runPrinted('docs/start/quickstart.md', 'second.mjs')).split(' ')
  expect(success).toBe('true')
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
})

test('a Safe of two owners takes ether out of the tank that it owns, by the data that the page prints', async () => {
  const { info, dataFolder } = purser()
  await safeFamily.place(info)
  const kind = safeFamily.kinds(() => info).find(({ name }) => name.includes('2 of 2'))
  if (kind === undefined) throw new Error('There is no Safe of two owners.')
  const safe = await kind.open('owner of a tank')
  await fund(info, safe.address)

  const { appId } = await createTenant(dataFolder, 'owned by a Safe')
  const tank = ['--app', appId, '--chain', String(info.chainId), '--entry-point', '0.7']
  const filling = [...tank, '--amount', '0.5', '--owner', safe.address]
  const shown = await commandsOn(dataFolder).answer('tank', 'deposit', ...filling)
  expect(labelled(shown, 'owner').toLowerCase()).toBe(safe.address.toLowerCase())

  const receiver: Address = '0x00000000000000000000000000000000005afe01'
  const data = (await runPrinted(
    'docs/operate/deploying.md',
    'withdrawal.mjs',
    receiver,
    '0.1',
  )) as Hex
  const bundler = createBundlerClient({
    chain: foundry,
    client: nodeClient(info),
    pollingInterval: 100,
    transport: http(info.standardUrl),
  })
  const to = labelled(shown, 'tank') as Address
  const hash = await bundler.sendUserOperation({ account: safe, calls: [{ to, data }] })
  const { success } = await bundler.waitForUserOperationReceipt({ hash })
  expect(success).toBe(true)
  expect(await balanceOf(info.rpcUrl, receiver)).toBe(10n ** 17n)
  const entryPoint = info.entryPoints['0.7'] as Address
  expect(await depositOf(info.rpcUrl, entryPoint, to)).toBe(4n * 10n ** 17n)
})
