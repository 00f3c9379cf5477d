import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { adminGet } from '../support/service/adminGet.js'
import { sendRefused } from '../support/service/sendRefused.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'
import { chromiumPath, evaluate, openContext } from './browser.js'
import { consoleTitle, useConsole } from './useConsole.js'

const password = 'nine blue bicycles in the rain'
const purser = useRunningPurser()
const opened = useConsole()

describe.skipIf(chromiumPath === undefined)(consoleTitle('a developer of an account'), () => {
  let page: Page
  let viewer: Page
  const url = (path: string) => `${purser().info.url}/console/${path}`
  const makeKey = (of: Page) => of.getByRole('button', { name: 'Make a key' })

  /** A page of a new user who chose the password. */
  const enter = async (token: string): Promise<Page> => {
    const page = await (await openContext(opened().browser)).newPage()
    await page.goto(url(`setup#${token}`))
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Screens' }).waitFor()
    return page
  }

  const invite = async (role: string): Promise<string> => {
    const { authToken, url } = purser().info
    const answer = await fetch(`${url}/admin/v1/invitations`, {
      method: 'POST',
      headers: { authToken, 'content-type': 'application/json' },
      body: JSON.stringify({ email: `${role}@example.com`, role }),
    })
    return ((await answer.json()) as { token: string }).token
  }

  beforeAll(async () => {
    page = await enter(await invite('developer'))
    viewer = await enter(await invite('viewer'))
  })

  test('makes one key to begin with, also by a double click; a viewer makes none', async () => {
    let requests = 0
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/keys')) requests += 1
    })
    await page.goto(url('start'))
    await makeKey(page).dblclick()
    await page.getByLabel('Copy the apiKey').waitFor()
    expect(requests).toBe(1)
    await viewer.goto(url('start'))
    await makeKey(viewer).waitFor()
    expect(await makeKey(viewer).isDisabled()).toBe(true)
    expect(await makeKey(viewer).getAttribute('title')).toContain('the role developer')
  })

  test('makes another key in the explorer once its hour is over', async () => {
    await page.clock.install()
    await page.goto(url('explorer'))
    await makeKey(page).click()
    await page.getByText('With a key that ends in an hour').waitFor()
    await page.clock.fastForward('01:00:01')
    await makeKey(page).click()
    await page.getByText('With a key that ends in an hour').waitFor()
  })

  test('takes the key of the explorer along when signing out: the next user has none', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail address').fill('viewer@example.com')
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'eth_supportedEntryPoints' }).waitFor()
    await makeKey(page).waitFor()
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  })

  test('asks for the lines of an export, and reads of a stream how to ask for it', async () => {
    await viewer.goto(url('explorer?method=GET /audit/export'))
    await viewer.getByRole('button', { name: 'Send' }).click()
    const lines = await viewer.getByRole('region', { name: 'the lines' }).textContent()
    for (const line of lines?.split('\n') ?? []) expect(JSON.parse(line)).toHaveProperty('action')
    await viewer.goto(url('explorer?method=GET /apps/{appId}/stream'))
    await viewer.getByText('It sends events for minutes').waitFor()
    expect(await viewer.getByRole('button', { name: 'Send' }).count()).toBe(0)
  })

  test('is offered to simulate what was refused; an operator outside all accounts is not', async () => {
    const { info, output } = purser()
    await sendRefused(info)
    const [{ refusalId }] = await until(async () => {
      const { items } = await adminGet(info, '/refusals')
      return items.length === 1 && items
    })
    const simulate = (of: Page) => of.getByRole('button', { name: 'Simulate it now' })
    await viewer.goto(url(`refusals/${refusalId}`))
    await simulate(viewer).waitFor()

    const first = opened().page
    await first.goto(/\S+\/console\/sign-in#\S+/.exec(output())?.[0] ?? '')
    await first.getByText('Get started').first().waitFor()
    const body = { email: 'operator@example.com', name: 'operator', isOperator: true }
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    const token = await evaluate(
      first,
      `fetch('/admin/v1/users', ${JSON.stringify(request)}).then((answer) => answer.json()).then(({ token }) => token)`,
    )
    const operator = await enter(String(token))
    await operator.goto(url(`refusals/${refusalId}`))
    await operator.getByText('What was asked').waitFor()
    expect(await simulate(operator).count()).toBe(0)
  })
})
