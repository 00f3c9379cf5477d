import type { Route } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { adminGet } from '../support/service/adminGet.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { chromiumPath, evaluate } from './browser.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

const purser = useRunningPurser(['--ip-rate', '5000'])
const opened = useConsole()

type Answer = { readonly items: readonly Record<string, unknown>[] }

const operation = {
  chainId: 31_337,
  userOpHash: `0x${'ab'.repeat(32)}`,
  entryPoint: `0x${'01'.repeat(20)}`,
  appId: '00000000-0000-4000-8000-000000000000',
  keyId: null,
  sender: `0x${'02'.repeat(20)}`,
  nonce: '0',
  paymaster: null,
  state: 'pooled',
  code: null,
  reason: null,
  maxCost: '1',
  actualCost: null,
  success: null,
  transactionHash: null,
  receivedAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}

const bundle = {
  bundleId: '7',
  kind: 'operations',
  executor: `0x${'03'.repeat(20)}`,
  nonce: '0',
  state: 'signed',
  operations: 0,
  attempts: 0,
  cost: null,
  transactionHash: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  transactions: [],
  userOpHashes: [],
}

describe.skipIf(chromiumPath === undefined)(consoleTitle('what changes while it is shown'), () => {
  let page: Console['page']
  const url = (path: string) => `${purser().info.url}/console/${path}`

  /** Answers of the administration API to paths of this form; the returned function changes them. */
  async function answerWith(path: RegExp, first: unknown): Promise<(next: unknown) => void> {
    let json = first
    await page.route(path, (route: Route) => route.fulfill({ json }))
    return (next) => {
      json = next
    }
  }

  beforeAll(async () => {
    page = opened().page
    await page.goto(/\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? '')
    await opened().appears('Waiting for your first operation')
  })

  test('the console leads to the operations once there is one, not to the first steps again', async () => {
    await page.goto(url(''))
    await opened().appears('Waiting for your first operation')
    const path = /\/admin\/v1\/operations\?/
    await answerWith(path, { items: [operation] })
    await page.locator('.brand').click()
    await page.waitForURL(url('operations'))
    await page.unroute(path)
  })

  test('an operation that was included is no longer in flight', async () => {
    const path = /\/admin\/v1\/operations\?.*outcome=inFlight/
    const change = await answerWith(path, { items: [operation] })
    await page.goto(url('operations?view=in-flight'))
    await page.locator('tbody .state-pooled').waitFor()
    change({ items: [] })
    // As when the tab is looked at again: no stream tells of an operation that the service does not have.
    await evaluate(page, `document.dispatchEvent(new Event('visibilitychange'))`)
    await page.locator('tbody').waitFor({ state: 'detached' })
    await page.unroute(path)
  })

  test('an overview that is left open learns that a tank is empty, and that it was filled', async () => {
    const path = /\/admin\/v1\/tanks$/
    const { items }: Answer = await adminGet(purser().info, '/tanks')
    await page.goto(url('overview'))
    const low = page.locator('.attention', { hasText: 'is empty' })
    const change = await answerWith(path, {
      items: items.map((tank, at) => (at === 0 ? { ...tank, deposit: '0' } : tank)),
    })
    await low.waitFor()
    change({ items })
    await low.waitFor({ state: 'detached' })
    await page.unroute(path)
  })

  test('an open bundle tells that it was included', async () => {
    const path = /\/admin\/v1\/chains\/31337\/bundles\/7$/
    const change = await answerWith(path, bundle)
    await page.goto(url('bundler/31337/7'))
    const panel = page.getByRole('complementary', { name: 'Bundle' })
    await panel.getByText('signed', { exact: true }).waitFor()
    change({ ...bundle, state: 'included', cost: '1' })
    await panel.getByText('included', { exact: true }).waitFor()
    await page.unroute(path)
  })

  test('the link to an entry of the audit log opens it, however old it is', async () => {
    await page.goto(url('audit'))
    await page.locator('tbody tr').last().click()
    await page.locator('.panel').waitFor()
    // As if newer ones filled the first page.
    const path = /\/admin\/v1\/audit\?limit=50$/
    await answerWith(path, { items: [] })
    await page.reload()
    await page.getByText('Nothing was changed yet').waitFor()
    await page.locator('.panel').getByText('Before').waitFor()
    await page.unroute(path)
  })

  test('a key that needs Shift works as the second of two', async () => {
    await page.goto(url('overview'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('Shift+Digit4')
    await page.getByRole('heading', { name: 'Spending' }).waitFor()
  })

  test('selecting text beyond the edge of a dialog leaves it open, a click there closes it', async () => {
    await page.goto(url('settings?view=tokens'))
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.locator('dialog[open]')
    const field = dialog.locator('input').first()
    await field.fill('deploys')
    const { x = 0, y = 0 } = (await field.boundingBox()) ?? {}
    await page.mouse.move(x + 20, y + 5)
    await page.mouse.down()
    await page.mouse.move(5, 5, { steps: 4 })
    await page.mouse.up()
    expect(await field.inputValue()).toBe('deploys')
    await page.mouse.click(5, 5)
    await dialog.waitFor({ state: 'detached' })
  })

  test('no request broke the content policy', () => {
    expect(opened().complaints).toEqual([])
  })
})
