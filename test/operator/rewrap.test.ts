import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import { clientView } from '../support/service/clientView.js'
import { devAccount } from '../support/service/devAccount.js'
import { servedChain, servedOn } from '../support/service/servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'

type Variables = Readonly<Record<string, string>>

const external = useDatabase()
const oldKey = randomBytes(32).toString('hex')
const newKey = randomBytes(32).toString('hex')
const onlyOld = { PURSER_MASTER_KEY: oldKey }
const both = { PURSER_MASTER_KEY: newKey, PURSER_MASTER_KEY_PREVIOUS: oldKey }
const onlyNew = { PURSER_MASTER_KEY: newKey }

let chain: PublicChain
const folders = [makeDataFolder(), makeDataFolder()]
/** The replicas to which a proxy would send requests. */
const replicas: (RunningService | undefined)[] = []

function environment(keys: Variables): Record<string, string> {
  return servedOn(external(), [servedChain(chain)], { OWNER: devKey(3), ...keys })
}

function start(at: number, keys: Variables): Promise<RunningService> {
  const flags = ['--data', folders[at] ?? '', '--port', '0', '--drain-seconds', '0']
  return startService(['serve', ...flags, '--log-level', 'warn'], environment(keys))
}

/** One replica after the other gets other keys; it has no requests while it is away. */
async function restartAll(keys: Variables): Promise<void> {
  for (const [at, replica] of replicas.entries()) {
    replicas[at] = undefined
    await replica?.end('SIGTERM')
    replicas[at] = await start(at, keys)
  }
}

beforeAll(async () => {
  chain = await startPublicChain(1_523)
  for (const at of folders.keys()) replicas[at] = await start(at, onlyOld)
})
afterAll(async () => {
  for (const replica of replicas) await replica?.end('SIGTERM')
  await chain?.stop()
  for (const folder of folders) removeDataFolder(folder)
})

test('the master key of two replicas is replaced under load, and no sponsorship is refused', async () => {
  const commands = (keys: Variables) => commandsOn(folders[0] ?? '', environment(keys))
  const { appId, apiKey } = await commands(onlyOld).tenant('rewrap')
  const place = ['--app', appId, '--chain', String(chain.chainId)]
  await commands(onlyOld).answer('tank', 'deposit', ...place, '--amount', '5', '--key', 'env:OWNER')

  let isOn = true
  let sponsored = 0
  const refused: string[] = []
  const load = async () => {
    for (let round = 0; isOn; round++) {
      const live = replicas.filter((each) => each !== undefined)
      const replica = live[round % live.length]
      if (replica === undefined) throw new Error('no replica is left')
      const account = await devAccount(clientView(chain, urlOf(replica), apiKey), `rewrap ${round}`)
      await account.sponsored().then(
        () => {
          sponsored += 1
        },
        // A replica that ended between the choice and the request is the proxy's affair, not a refusal.
        (error: Error) => {
          if (replicas.includes(replica)) refused.push(error.message)
        },
      )
    }
  }
  const running = load()
  await restartAll(both)
  const during = sponsored
  expect(await commands(both).answer('keys', 'rewrap')).toMatch(/with the new key now +[1-9]/)
  await restartAll(onlyNew)
  const before = sponsored
  while (sponsored < before + 3 && refused.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
  isOn = false
  await running
  expect(refused).toEqual([])
  expect(during).toBeGreaterThan(0)
  expect(sponsored).toBeGreaterThan(before)
  await expect(commands(onlyOld).answer('account', 'list')).rejects.toThrow()
})
