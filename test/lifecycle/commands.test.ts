import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rpc } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { commandsOn, labelled, rowsOf } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { isAlive, processesOn } from '../support/service/processes.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const purser = useRunningPurser()
function commands() {
  return commandsOn(purser().dataFolder)
}

const unknownId = '00000000-0000-4000-8000-000000000000'

async function statusOf(apiKey: string): Promise<number> {
  const { url, chainId } = purser().info
  return (await rpc(`${url}/api/v2/${chainId}/${apiKey}`, 'eth_chainId', [])).status
}

async function webhookStatus(authToken: string, apiKey: string): Promise<number> {
  const request = { headers: { authToken, apiKey }, query: '?webhookId=none' }
  return (await webhookApi(purser().info, 'GET', request)).status
}

/** Waits until the key is refused; `authenticate.test.ts` counts the seconds for which it may be remembered. */
async function expectEnd(apiKey: string): Promise<void> {
  await until(async () => (await statusOf(apiKey)) === 401)
}

function liveRow(stdout: string, id: string) {
  return rowsOf(stdout).find((row) => row.id === id && row.revokedAt === '-')
}

describe('commands next to the running service', () => {
  test('an account, an app and a key: made, listed, in use, revoked one after the other', async () => {
    const { answer, refusal, tenant } = commands()
    const { accountId, authToken, appId, keyId, apiKey } = await tenant('whole life')
    expect(await statusOf(apiKey)).toBe(200)
    expect(await webhookStatus(authToken, apiKey)).toBe(200)
    expect(liveRow(await answer('account', 'list'), accountId)).toMatchObject({
      name: 'whole life',
    })
    expect(liveRow(await answer('app', 'list'), appId)).toMatchObject({ accountId })
    const icon = ['--icon', 'https://shop.example/icon.png']
    expect(await answer('app', 'sponsor', appId, '--name', 'The shop', ...icon)).toContain(
      'The shop',
    )
    expect(liveRow(await answer('app', 'list'), appId)?.sponsor).toBe('The shop')
    expect(await answer('app', 'sponsor', appId)).toContain('nobody')
    expect(await refusal('app', 'sponsor', appId, ...icon)).toContain('--name')
    const listed = await answer('key', 'list')
    expect(liveRow(listed, keyId)).toMatchObject({ appId, last4: apiKey.slice(-4) })
    expect(listed).not.toContain(apiKey)

    expect(await refusal('webhook', 'secret', unknownId, '--app', appId)).toContain(unknownId)

    await answer('key', 'revoke', keyId)
    await expectEnd(apiKey)
    expect(liveRow(await answer('key', 'list'), keyId)).toBeUndefined()

    const second = await answer('key', 'create', '--app', appId, '--name', 'second')
    const secondKey = labelled(second, 'apiKey')
    expect(await statusOf(secondKey)).toBe(200)
    await answer('app', 'revoke', appId)
    await expectEnd(secondKey)
  })

  test('revoking an account ends its token and the keys of its apps', async () => {
    const { answer, refusal, tenant } = commands()
    const { accountId, authToken, appId, apiKey } = await tenant('account to revoke')
    expect(await statusOf(apiKey)).toBe(200)
    await answer('account', 'revoke', accountId)
    await expectEnd(apiKey)
    expect(await webhookStatus(authToken, apiKey)).toBe(401)
    expect(await refusal('app', 'create', '--account', accountId, '--name', 'x')).toContain(
      accountId,
    )
    expect(await refusal('key', 'create', '--app', appId, '--name', 'x')).toContain(appId)
    expect(await refusal('webhook', 'list', '--app', appId)).toContain(appId)
  })

  test('the service and its database run on', async () => {
    const { answer } = commands()
    const pidFile = join(purser().dataFolder, 'postgres/cluster/postmaster.pid')
    const postmaster = () => Number.parseInt(readFileSync(pidFile, 'utf8'), 10)
    const before = postmaster()
    await Promise.all([answer('account', 'list'), answer('app', 'list'), answer('migrate')])
    expect([postmaster(), isAlive(before)]).toEqual([before, true])
    expect(purser().process.exitCode).toBeNull()
    const { status, body } = await fetch(`${purser().info.url}/health/ready`).then(
      async (response) => ({ status: response.status, body: await response.text() }),
    )
    expect({ status, body }).toMatchObject({ status: 200 })
  })

  test.each(['--version', '$(id) `id` %s \\n \'"\u{1F600}'])(
    'a name may be odd: %s',
    async (name) => {
      const { answer } = commands()
      const id = labelled(await answer('account', 'create', '--name', name), 'account')
      expect(liveRow(await answer('account', 'list'), id)?.name).toBe(name)
    },
  )

  test.each([
    [['account', 'revoke', unknownId], unknownId],
    [['key', 'revoke', "'; drop table keys"], 'drop table'],
    [['app', 'create', '--account', unknownId, '--name', 'x'], unknownId],
    [['key', 'create', '--app', unknownId, '--name', 'x'], unknownId],
    [['webhook', 'secret', unknownId, '--app', 'nonsense'], 'nonsense'],
    [['key', 'create', '--name', 'x'], '--app'],
    [['account', 'create', '--name', ' '], '--name'],
  ])('an unknown id or a missing flag ends with one sentence: %j', async (args, text) => {
    expect(await commands().refusal(...args)).toContain(text)
  })
})

describe('commands without a running service', () => {
  test('start the database, keep what they made and leave no process', async () => {
    const folder = makeDataFolder()
    try {
      const { answer, tenant } = commandsOn(folder)
      await createTenant(folder, 'of a service that ran')
      const { accountId, keyId } = await tenant('alone')
      expect(processesOn(folder)).toEqual([])
      const answers = await Promise.all([
        answer('account', 'list'),
        answer('key', 'list'),
        answer('account', 'create', '--name', 'meanwhile'),
      ])
      expect(liveRow(answers[0], accountId)).toBeDefined()
      expect(liveRow(answers[1], keyId)).toBeDefined()
      expect(processesOn(folder)).toEqual([])
    } finally {
      removeDataFolder(folder)
    }
  })
})
