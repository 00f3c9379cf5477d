import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devAccount } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'
import { chromiumPath, evaluate } from './browser.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

const purser = useRunningPurser(['--ip-rate', '5000'])
const opened = useConsole()

/** A receiver of events that is broken until somebody fixes it. */
let status = 500
const receiver = createServer((_, response) => response.writeHead(status).end())
beforeAll(() => new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done)))
afterAll(() => {
  receiver.closeAllConnections()
  return new Promise((done) => receiver.close(done))
})

describe.skipIf(chromiumPath === undefined)(consoleTitle('what is asked before an act'), () => {
  let page: Console['page']
  const url = (path: string) => `${purser().info.url}/console/${path}`
  const expectFine = (name: string) => opened().expectFine(name)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const dialog = () => page.locator('dialog[open]')

  /** Opens a dialog, looks at it as it is and with its code unfolded, and leaves it. */
  async function look(opener: string | RegExp, name: string): Promise<void> {
    await button(opener).first().click()
    await dialog().waitFor()
    await expectFine(name)
    await dialog().getByText('As code', { exact: true }).click()
    await dialog().locator('pre').first().waitFor()
    await expectFine(`${name}-code`)
    await dialog().getByRole('button', { name: 'Close' }).click()
    await dialog().waitFor({ state: 'detached' })
  }

  beforeAll(async () => {
    page = opened().page
    await page.goto(/\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? '')
    await page.getByText('Get started').first().waitFor()
  })

  test('the operator reads every setting, and changes the level of the log', async () => {
    await page.goto(url('settings?view=instance'))
    const row = (name: string) =>
      page
        .getByRole('region', { name: 'Configuration' })
        .locator('tr', { has: page.getByText(name, { exact: true }) })
    await row('ipRate').getByText('5000').waitFor()
    expect(await row('ipRate').textContent()).toMatch(/flag5000$/)
    expect(await row('keyRate').textContent()).toMatch(/default10000$/)
    expect(await row('operatorToken').textContent()).toContain('not set')
    await expectFine('settings-instance')
    await look('Change log level', 'log-level')
    await button('Change log level').click()
    await dialog().locator('select').selectOption('debug')
    await dialog().getByRole('button', { name: 'Change it' }).click()
    await dialog().waitFor({ state: 'detached' })
    const facts = page.getByRole('region', { name: 'This process' })
    await facts.getByText('debug', { exact: true }).waitFor()
    await facts.getByText('from the next start on').waitFor()
    // The line comes by another way than the answer.
    const changed = await until(async () =>
      purser()
        .output()
        .split('\n')
        .find((line) => line.includes('changed by the operator')),
    )
    expect(changed).toContain('debug')
    // An account's audit log does not tell of the instance; the operator's does.
    const audit = await evaluate<unknown>(
      page,
      `fetch('/admin/v1/audit?action=log_level.update').then((answer) => answer.json())`,
    )
    expect(audit).toMatchObject({ items: [{ actor: 'operator', after: { level: 'debug' } }] })
  })

  test.each([
    ['settings?view=tokens', 'New token', 'token-new'],
    ['settings', 'Change role', 'member-role'],
    ['settings', 'Remove', 'member-remove'],
    ['settings?view=accounts', 'New account', 'account-new'],
    ['settings?view=users', 'New user', 'user-new'],
  ])('%s: %s says what it does, and how to do it without the console', async (path, act, name) => {
    await page.goto(url(path))
    await look(act, name)
  })

  test.each([
    'settings',
    'settings?view=storage',
    'apps',
    'webhooks',
    'webhooks/events',
    'bundler',
  ])('%s shows how to ask for the same by the API', async (path) => {
    await page.goto(url(path))
    await button('As code').first().click()
    await dialog()
      .getByText(/^curl /)
      .first()
      .waitFor()
    await expectFine(`as-code-${path.replace(/\W+/g, '-')}`)
  })

  test('each attempt to deliver an event is shown, and those given up are sent again', async () => {
    const { port } = receiver.address() as AddressInfo
    await page.goto(url('webhooks/events'))
    await button('New subscription').click()
    await page.locator('input[name=url]').fill(`http://127.0.0.1:${port}/events`)
    await button('Subscribe').click()
    await button('I saved it').click()
    await (await devAccount(purser().info, 'attempts')).sponsored()
    const event = page.locator('.deliveries > li', { hasText: 'sponsorship.signed' })
    await event.getByText('HTTP 500, next at').waitFor()
    await event.locator('summary').first().click()
    await event.locator('.attempts li').getByText('HTTP 500').first().waitFor()
    await expectFine('event-failing')
    status = 200
    await event.getByRole('button', { name: /Send again/ }).click()
    await event.getByText('delivered').waitFor()
    await event.locator('.attempts .tag').first().filter({ hasText: 'HTTP 200' }).waitFor()
    expect(await event.locator('.attempts li').count()).toBeGreaterThan(1)
    await look('Send again…', 'events-again')
    await look('New secret…', 'secret-new')
    await look('Delete…', 'subscription-delete')
  })

  test('no request broke the content policy', () => {
    expect(opened().complaints).toEqual([])
  })
})
