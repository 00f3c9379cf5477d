import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Json, result } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'
import { chromiumPath, evaluate, openContext, seriousFindings } from './browser.js'
import { type SubPath, startSubPath } from './subPath.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

// The administration has a port of its own, and is reached by https below a path too.
const args = ['--debug-methods', '--admin-listen', '127.0.0.1:0']
let ops: SubPath
beforeAll(async () => {
  ops = await startSubPath()
  args.push('--admin-url', ops.url)
})
const purser = useRunningPurser(args)
afterAll(() => ops?.stop())
const opened = useConsole()

describe.skipIf(chromiumPath === undefined)(consoleTitle('administration by the console'), () => {
  let page: Console['page']

  const link = () => /\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? ''
  const url = (path: string) => new URL(path, link()).href
  const expectFine = (name: string) => opened().expectFine(name)
  const appears = (text: string | RegExp) => opened().appears(text)
  const button = (name: string | RegExp) => page.getByRole('button', { name })

  /** What a text box next to a name shows. */
  const shown = async (name: string): Promise<string> =>
    (await page.locator('dialog dl > div', { hasText: name }).locator('code').textContent()) ?? ''

  const chainIdBy = async (link: string) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(link, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.json()
  }

  beforeAll(async () => {
    page = opened().page
    ops.leadTo(new URL(link()).origin)
    await page.goto(link())
    await appears('Get started')
  })

  describe('apps and keys', () => {
    test('an app is made, and its first key completes a URL that answers', async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('k')
      await page.getByRole('heading', { name: 'Apps and keys' }).waitFor()
      await page.locator('td[data-name="Tank"]').getByText('no spending').waitFor()
      await page.locator('td[data-name="Last used"]').getByText('never').waitFor()
      await expectFine('apps')
      await button('New app').click()
      await page.getByLabel('Name').fill('Shop')
      await expectFine('apps-new')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Shop' }).waitFor()
      await appears('No key yet')
      await expectFine('app-empty')
      await button('New key').click()
      await page.getByLabel('Name').fill('web')
      await page.getByText('Limits', { exact: true }).click()
      await page.getByLabel('a second').fill('50')
      await expectFine('key-new')
      await button('Create the key').click()
      const link = await shown('URL on')
      expect(await chainIdBy(link)).toMatchObject({ result: '0x7a69' })
      await expectFine('key-shown')
      // A secret is not lost by a key that was pressed too early.
      await page.keyboard.press('Escape')
      await button('I saved it').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
      await page.locator('tbody tr', { hasText: 'web' }).getByText('live').waitFor()
    })

    test('a rotated key counts down while both are good; an ended one is refused', async () => {
      await page.locator('tbody tr', { hasText: 'web' }).click()
      await page.getByRole('heading', { name: /web …/ }).waitFor()
      await button('Rotate').click()
      await expectFine('key-rotate')
      await button('Create the new key').click()
      const link = await shown('URL on')
      await button('I saved it').click()
      await page.locator('tbody').getByRole('timer').waitFor()
      expect(await page.locator('tbody').getByRole('timer').textContent()).toMatch(
        /^replaced, ends in (1 d 0 h|23 h \d\d min)$/,
      )
      await expectFine('key')
      const newest = link.slice(-4)
      await page.locator('tbody tr', { hasText: newest }).click()
      await page.locator('.panel').getByText('Replaces').waitFor()
      await button('End the key').click()
      await button('End it').click()
      await page.locator('tbody tr.is-over', { hasText: newest }).waitFor()
      const { code } = await until(async () => ((await chainIdBy(link)) as Json).error)
      expect(code).toBe(-32001)
      await page.keyboard.press('Escape')
      await page.locator('.panel').waitFor({ state: 'detached' })
      await expectFine('app')
      await button('Contracts…').click()
      await page.getByLabel('ABI').fill('function mint(address to')
      await button('Save').click()
      await appears('"function mint(address to" cannot be read')
      await page.getByLabel('ABI').fill('function mint(address to, uint256 id)')
      await expectFine('app-contracts')
      await button('Save').click()
      await appears('1 function or error')
      const saved = page.waitForEvent('download')
      await button('CSV').click()
      const [head, ...rows] = (await readFile(await (await saved).path(), 'utf8')).split('\r\n')
      expect(head).toMatch(/^id,appId,name,last4,/)
      expect(rows.filter((row) => row.includes(',web,'))).toHaveLength(2)
    })

    test('an app ends only when its name was typed', async () => {
      await button('End the app').click()
      await page.getByLabel('Type Shop to confirm').fill('shop')
      await button('End it for good').click()
      await appears('The name of the app is Shop')
      await expectFine('app-end')
      await page.getByLabel('Type Shop to confirm').fill('Shop')
      await button('End it for good').click()
      await appears('1 app has ended')
      expect(page.url()).toBe(url('apps'))
    })
  })

  describe('operations', () => {
    const debug = async (method: string, ...params: unknown[]) => {
      const body = { jsonrpc: '2.0', id: 1, method: `debug_bundler_${method}`, params }
      const headers = { 'content-type': 'application/json' }
      const { standardUrl } = purser().info
      const answer = await fetch(standardUrl, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      expect(await answer.json()).not.toHaveProperty('error')
    }

    test('a row comes by the stream; its calls are described, and it can be tried and taken back', async () => {
      await page.goto(url('operations'))
      await page.locator('.live[title^="Changes come by themselves"]').waitFor()
      const dev = await devAccount(purser().info, 'streamed')
      await debug('setBundlingMode', 'manual')
      const hash = await dev.send(await dev.sponsored())
      await page.locator('tbody .state-pooled').waitFor()
      await page.locator('tbody tr').first().click()
      await page.locator('.calls').getByText('on').waitFor()
      await button('Simulate it now').click()
      await page.locator('.simulate .remedy, .simulate .fine').waitFor()
      await expectFine('operation-pooled')
      await button('Cancel the operation').click()
      await expectFine('operation-cancel')
      await button('Cancel it').click()
      await page.locator('.panel .state-dropped').waitFor()
      await page.locator('tbody .state-dropped').waitFor()
      await page.locator('.remedy').getByText('CANCELLED').first().waitFor()
      await expectFine('operation-dropped')
      await debug('setBundlingMode', 'auto')
      expect(page.url()).toContain(hash)
    })

    test('a time that is chosen stands in the address, with what it holds', async () => {
      await page.getByLabel('Time range').selectOption('24h')
      await page.locator('.tabs').getByText('All 1').waitFor()
      expect(page.url()).toContain('range=24h')
      await expectFine('operations-range')
    })
  })

  describe('people', () => {
    let second: Page
    const password = 'nine blue bicycles in the rain'
    const apps = async (token: string): Promise<Json> => {
      const headers = { authToken: token }
      const answer = await fetch(`${new URL(link()).origin}/admin/v1/apps`, { headers })
      expect(answer.status).toBe(200)
      return answer.json()
    }

    test('a viewer is invited, chooses a password by the link, and can change nothing', async () => {
      await page.goto(url('settings'))
      await page.getByRole('heading', { name: 'Members' }).waitFor()
      await button('Invite').click()
      await page.getByLabel('E-mail address').fill('viewer@example.com')
      await expectFine('invite')
      await button('Create the link').click()
      const shownLink = await shown('link')
      await button('I saved it').click()
      await page.locator('tbody').getByText('viewer@example.com').waitFor()
      await expectFine('members')

      const { browser } = opened()
      const context = await openContext(browser, { ignoreHTTPSErrors: true })
      second = await context.newPage()
      // The same link, as somebody opens it from elsewhere: below the path of the proxy.
      await second.goto(`${ops.url}/console/setup${new URL(shownLink).hash}`)
      await second.getByLabel('Password').fill(password)
      await second.keyboard.press('Enter')
      await second.getByRole('navigation', { name: 'Screens' }).waitFor()
      await second.goto(`${ops.url}/console/apps`)
      const make = second.getByRole('button', { name: 'New app' })
      await make.waitFor()
      expect(await make.isDisabled()).toBe(true)
      expect(await make.getAttribute('title')).toContain('the role admin')
      await second.getByRole('row', { name: /development/ }).click()
      await second.getByRole('heading', { name: 'Keys' }).waitFor()
      expect(await second.getByRole('button', { name: 'New key' }).isDisabled()).toBe(true)
      await second.goto(`${ops.url}/console/settings?view=tokens`)
      await second.getByText('Tokens need the role admin').waitFor()
      await second.goto(`${ops.url}/console/bundler`)
      await second.getByText("The bundler is the operator's").waitFor()
    })

    test('who is signed in accepts an invitation without the password', async () => {
      await button('Invite').click()
      await page.getByLabel('E-mail address').fill('viewer@example.com')
      await button('Create the link').click()
      const { hash } = new URL(await shown('link'))
      await button('I saved it').click()
      await second.goto(`${ops.url}/console/setup${hash}`)
      await second.getByRole('button', { name: 'Accept as viewer@example.com' }).click()
      await second.getByRole('navigation', { name: 'Screens' }).waitFor()
      await second.goto(`${ops.url}/console/setup${hash}`)
      await second.getByRole('button', { name: 'Accept as viewer@example.com' }).click()
      await second.getByText('is no open invitation of this user').waitFor()
      await second.goto(`${ops.url}/console/bundler`)
    })

    test('what the console does not offer a viewer the service refuses', async () => {
      const before = await apps(purser().info.authToken)
      const [{ id, accountId }] = before.items
      const ask = (method: string, path: string, body: object) =>
        evaluate(
          second,
          `fetch(${JSON.stringify(`${new URL(ops.url).pathname}/admin/v1${path}`)}, ${JSON.stringify(
            {
              method,
              headers: { 'content-type': 'application/json', 'purser-account': accountId },
              ...(method !== 'DELETE' && { body: JSON.stringify(body) }),
            },
          )}).then(({ status }) => status)`,
        )
      expect(await ask('POST', '/apps', { name: 'Theirs' })).toBe(403)
      expect(await ask('POST', `/apps/${id}/keys`, { name: 'theirs' })).toBe(403)
      expect(await ask('PATCH', `/apps/${id}`, { name: 'Theirs' })).toBe(403)
      expect(await ask('DELETE', `/apps/${id}`, {})).toBe(403)
      expect(await ask('POST', '/auth-tokens', { name: 'x', role: 'viewer' })).toBe(403)
      expect(await ask('POST', '/policies', { name: 'x', appId: null })).toBe(403)
      expect(await ask('POST', '/accounts', { name: 'x' })).toBe(403)
      expect(await apps(purser().info.authToken)).toEqual(before)
    })

    test('the viewer signs out, and in again by password; a wrong one is refused', async () => {
      await second.getByRole('button', { name: 'Sign out' }).click()
      await second.getByLabel('E-mail address').fill('viewer@example.com')
      await second.getByLabel('Password').fill('not this password')
      await second.keyboard.press('Enter')
      await second.locator('.trouble').waitFor()
      await second.getByLabel('Password').fill(password)
      await second.keyboard.press('Enter')
      await second.getByText("The bundler is the operator's").waitFor()
      await second.goto(`${ops.url}/console/settings?view=you`)
      await second.getByText('this one').waitFor()
      await second.getByRole('button', { name: 'Change password' }).click()
      await second.getByLabel('Current password').fill('not this password')
      await second.getByLabel('New password').fill('nine blue whales, singing')
      await second.keyboard.press('Enter')
      await second.locator('dialog').getByText('is not the password of this user').waitFor()
      await second.goto(`${ops.url}/console/settings?view=you`)
      await second.getByText('this one').waitFor()
      await second.getByRole('button', { name: 'Sign out' }).click()
      await second.getByLabel('Password').waitFor()
      await second.goto(`${ops.url}/console/sign-in?problem=unknown`)
      await second.getByText('no user here has this identity').waitFor()
      await second.context().close()
    })

    test('a token is made and ended, and the audit log names who did what', async () => {
      await page.goto(url('settings?view=tokens'))
      await button('New token').click()
      await page.getByLabel('Name').fill('deploys')
      await button('Create the token').click()
      const token = await shown('token')
      await button('I saved it').click()
      expect((await apps(token)).items).not.toEqual([])
      await expectFine('tokens')
      await page.locator('tr', { hasText: 'deploys' }).getByRole('button', { name: 'End' }).click()
      await button('End it').click()
      await page.locator('tr', { hasText: 'deploys' }).waitFor({ state: 'detached' })
      for (const view of ['you', 'accounts', 'users', 'storage']) {
        await page.goto(url(`settings?view=${view}`))
        await page.locator('tbody tr').first().waitFor()
        await expectFine(`settings-${view}`)
      }
      await page.keyboard.press('g')
      await page.keyboard.press('a')
      await page.getByRole('heading', { name: 'Audit' }).waitFor()
      await page.locator('tbody tr').first().waitFor()
      await expectFine('audit')
      await page.getByLabel('Filter by action or object').fill('key.rotate')
      await page.keyboard.press('Enter')
      await page.locator('tbody tr').first().click()
      await page.locator('.panel').getByText('After').waitFor()
      // The user by name, not by id.
      await page.locator('.panel dl').getByText('@').first().waitFor()
      await expectFine('audit-entry')
      const saved = page.waitForEvent('download')
      await button('Export as NDJSON').click()
      const lines = await readFile(await (await saved).path(), 'utf8')
      const [first] = lines.trim().split('\n')
      expect(JSON.parse(first ?? '')).toMatchObject({ action: 'key.rotate', actor: 'user' })
    })
  })

  test('the operator sees the bundler at work, down to one transaction', async () => {
    const { info } = purser()
    const dev = await devAccount(info, 'bundled')
    const hash = await dev.send(await dev.sponsored())
    const known = Array.from({ length: 60 }, (_, n) => ({
      address: `0x${n.toString(16).padStart(40, '0')}`,
      opsSeen: '0x1',
      opsIncluded: '0x1',
    }))
    await result(info.bundlerUrl, 'debug_bundler_setReputation', [known, info.entryPoints['0.7']])
    await page.goto(url('bundler'))
    await page
      .locator('tbody tr', { hasText: 'operations' })
      .getByText('included')
      .first()
      .waitFor()
    for (const name of ['Executors', 'Nodes, preferred first', 'Reputation (ERC-7562)'])
      await page.getByRole('region', { name }).locator('tbody tr').first().waitFor()
    const reputations = page.getByRole('region', { name: 'Reputation (ERC-7562)' })
    await reputations.getByRole('button', { name: 'Load 50 more' }).click()
    await reputations.locator('tbody tr').nth(60).waitFor()
    await expectFine('bundler')
    await button('Rehearse').click()
    const rehearsal = page.getByRole('region', { name: 'Rehearsal' })
    await rehearsal.getByText(/[1-9]\d* of [1-9]\d* operations were run/).waitFor()
    await rehearsal.getByRole('table', { name: 'Costs' }).locator('tbody tr').first().waitFor()
    await expectFine('rehearsal')
    await page.locator('tbody tr', { hasText: 'operations' }).first().click()
    await page.locator('.panel .timeline .good').waitFor()
    await expectFine('bundle')
    await page.locator('.panel').getByRole('link').click()
    await page.locator('.panel').getByText('Included').first().waitFor()
    expect(page.url()).toContain(hash)
  })

  test('the explorer asks any method of the served documents, with the key at hand', async () => {
    await page.goto(url('explorer'))
    await page.getByRole('heading', { name: 'eth_supportedEntryPoints' }).waitFor()
    await button('Send').click()
    const answer = page.getByRole('region', { name: 'Answer' })
    const entryPoint = purser().info.entryPoints['0.7'] ?? ''
    await answer.getByText(entryPoint).waitFor()
    // Listed, as this service serves them.
    expect(await page.getByText('debug_bundler_dumpMempool').count()).toBe(1)
    await expectFine('explorer')
  })

  test('its key ends within an hour, and its routes are asked as the user who is signed in', async () => {
    const ask = async (path: string): Promise<Json> => {
      const headers = { authToken: purser().info.authToken }
      return (await fetch(`${new URL(link()).origin}/admin/v1${path}`, { headers })).json()
    }
    const [app] = (await ask('/apps')).items.filter(({ revokedAt }: Json) => revokedAt === null)
    // Another tab does not have the key of the development app, which the link of the start gave this one.
    const tab = await opened().context.newPage()
    await tab.goto(url('explorer'))
    const send = tab.getByRole('button', { name: 'Send' })
    await tab.getByRole('button', { name: `Make a key of ${app.name} for an hour` }).waitFor()
    expect(await send.isDisabled()).toBe(true)
    await tab.getByRole('button', { name: `Make a key of ${app.name} for an hour` }).click()
    await send.click()
    const entryPoint = purser().info.entryPoints['0.7'] ?? ''
    await tab.getByRole('region', { name: 'Answer' }).getByText(entryPoint).waitFor()
    expect(await seriousFindings(tab)).toEqual([])
    await tab.close()
    const { items: keys } = await ask(`/apps/${app.id}/keys`)
    const made: Json = keys.find(({ name }: Json) => name === 'console explorer')
    const rest = Date.parse(made.expiresAt) - Date.parse(made.createdAt)
    expect(rest).toBeGreaterThan(3_000_000)
    expect(rest).toBeLessThanOrEqual(3_600_000)

    await page.goto(url('explorer?method=GET /apps/{appId}'))
    await page.getByRole('heading', { name: 'GET /apps/{appId}' }).waitFor()
    await button('Send').click()
    await page.locator('.trouble').waitFor()
    await page.getByLabel('appId').fill(app.id)
    await button('Send').click()
    await page.getByRole('region', { name: 'Answer' }).getByText(app.name).first().waitFor()
    await expectFine('explorer-route')
    await page.goto(url('explorer?method=POST /apps'))
    await page.getByText('Changes are made on their screens').waitFor()
    expect(await button('Send').count()).toBe(0)
    await expectFine('explorer-change')
  })

  test('a narrow window shows four screens, and the others behind More', async () => {
    await page.setViewportSize({ width: 390, height: 800 })
    const rail = page.getByRole('navigation', { name: 'Screens' })
    await until(async () => (await rail.getByRole('link').count()) === 4)
    await page.getByRole('button', { name: 'More' }).click()
    await rail.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await until(async () => (await rail.getByRole('link').count()) === 4)
    await page.getByRole('button', { name: 'More' }).click()
    await expectFine('more')
  })

  test('no request broke the content policy, and no script failed', () => {
    expect(opened().complaints).toEqual([])
  })
})
