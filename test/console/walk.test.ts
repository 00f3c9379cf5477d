import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRefused } from '../support/service/sendRefused.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { chromiumPath, evaluate, openContext } from './browser.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

const run = promisify(execFile)
// In a folder of the clone, so that the snippet finds its packages.
const folder = join('node_modules', '.cache', `console-${process.pid}`)

/** Fills a row with the longest texts that its columns hold. */
const longTexts = `(() => {
  const texts = { App: 'Wallet of the northern shops', Chain: 'BNB Smart Chain', 'Paid by': 'Campaign of the winter', Took: '59 min 59 s' }
  for (const [name, text] of Object.entries(texts))
    document.querySelector('td[data-name="' + name + '"]').textContent = text
  document.querySelector('td[data-name="Cost"] .amount').textContent = '≤ 0.000000123 MATIC $1,234.56'
})()`

const purser = useRunningPurser()

const opened = useConsole()

describe.skipIf(chromiumPath === undefined)(consoleTitle('the console'), () => {
  let browser: Console['browser']
  let context: Console['context']
  let page: Console['page']
  let actions = 0

  const url = (path: string) => `${purser().info.url}/console/${path}`
  const link = () => /\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? ''
  const expectFine = (name: string) => opened().expectFine(name)
  const appears = (text: string) => opened().appears(text)

  const click = async (selector: string): Promise<void> => {
    actions += 1
    await page.click(selector)
  }
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
    actions += keys.length
  }

  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    const { browser: running, context: shared, page: first } = opened()
    browser = running
    context = shared
    page = first
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('without a session an address leads to the sign-in', async () => {
    await page.goto(url('operations?view=failed'))
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).searchParams.get('back')).toBe('operations?view=failed')
    await expectFine('sign-in')
  })

  test('the link of the start signs in once, and shows addresses and the wait', async () => {
    actions = 1
    await page.goto(link())
    await appears('Waiting for your first operation')
    expect(page.url()).toBe(url('start'))
    await appears(purser().info.bundlerUrl)
    await appears(purser().info.authToken)
    await expectFine('start-empty')
    const second = await (await openContext(browser)).newPage()
    await second.goto(link())
    await second.getByText('This link is unknown, was used').waitFor()
    await second.context().close()
  })

  test('the snippet for viem runs as it is copied, and its operation appears without reloading', async () => {
    await click('button[aria-label="Copy the viem code"]')
    const code = await evaluate(page, 'navigator.clipboard.readText()')
    writeFileSync(join(folder, 'first.mjs'), String(code))
    const { stdout } = await run(process.execPath, [join(folder, 'first.mjs')])
    expect(stdout).toContain('success: true')
    await page.locator('.latest .state-included').waitFor()
    await expectFine('start')
    await click('.latest a')
    await page.locator('.timeline .good').waitFor()
    await appears('Sponsored')
    await expectFine('operation')
    // From the link of the terminal to the timeline of an own operation.
    expect(actions).toBeLessThanOrEqual(25)
  })

  test('a refused request is explained: the code, its meaning, what to do', async () => {
    const reason = await sendRefused(purser().info)
    await page.goto(url('operations'))
    await page.locator('.tabs').getByRole('link', { name: 'Refused' }).click()
    await page.locator('tbody tr').first().click()
    const remedy = page.locator('.remedy')
    await remedy.getByText(reason).waitFor()
    expect(await remedy.locator('li').count()).toBeGreaterThan(0)
    await expectFine('refusal')
  })

  test('filters stand in the address, and what nothing matches says so', async () => {
    await page.goto(url('operations'))
    await page.locator('tbody tr').first().waitFor()
    await page.fill('input[name=filter]', `0x${'cd'.repeat(20)}`)
    await page.keyboard.press('Enter')
    await appears('Nothing matches these filters')
    expect(page.url()).toContain(`sender=0x${'cd'.repeat(20)}`)
    await expectFine('filtered-empty')
    await page.goBack()
    await page.locator('tbody tr').first().waitFor()
    await expectFine('operations')
    // As with a long name, the coin of another chain, and an operation that waited.
    await evaluate(page, longTexts)
    await expectFine('operations-long')
    for (const [name, count] of [
      ['Included', 1],
      ['Failed', 0],
      ['In flight', 0],
    ] as const) {
      await page.locator('.tabs').getByRole('link', { name, exact: true }).click()
      if (count > 0) await page.locator('tbody tr .state-included').first().waitFor()
      else await page.locator('.empty').waitFor()
    }
  })

  test('the way from the first screen to the timeline and back is done by keys alone', async () => {
    await page.goto(url('start'))
    await page.getByRole('heading', { name: 'Get started' }).waitFor()
    await press('g', 'o')
    await page.locator('tbody tr').first().waitFor()
    await press('j', 'Enter')
    await page.locator('.timeline').waitFor()
    await press('Escape')
    await page.locator('.panel').waitFor({ state: 'detached' })
    await press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await sheet.getByText('next row').waitFor()
    expect(await sheet.getByText('an earlier time').count()).toBe(0)
    await expectFine('keys')
    await press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await press('/')
    expect(await evaluate(page, 'document.activeElement.id')).toBe('search')
  })

  test('a service that does not answer is reported, and what was shown stays', async () => {
    await page.goto(url('operations'))
    await page.locator('tbody tr').first().waitFor()
    await context.setOffline(true)
    await page.getByText('No connection.').waitFor()
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(0)
    await expectFine('no-connection')
    await context.setOffline(false)
    await page.getByText('No connection.').waitFor({ state: 'detached' })
  })

  test('a tab from before an upgrade loads itself anew once, and says so where that does not help', async () => {
    await page.goto(url('operations'))
    await page.locator('tbody tr').first().waitFor()
    const audit = '**/assets/Audit-*.js'
    let refused = 0
    // As a file that the new build does not have.
    await page.route(audit, async (route) => {
      refused += 1
      if (refused === 1) await route.fulfill({ status: 404, body: '' })
      else await route.continue()
    })
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    expect(refused).toBe(2)
    await page.unroute(audit)
    await page.route('**/assets/Tokens-*.js', (route) => route.fulfill({ status: 404, body: '' }))
    await page.getByRole('link', { name: 'Tokens' }).click()
    await appears('This screen could not be loaded')
    await expectFine('not-loaded')
    await page.unroute('**/assets/Tokens-*.js')
    await page.getByRole('button', { name: 'Reload the page' }).click()
    await page.getByRole('heading', { name: 'Tokens' }).waitFor()
  })

  test('signing out ends the session, and no request broke the content policy', async () => {
    await page.click('button[aria-label="Sign out"]')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const answer = await context.request.get(`${purser().info.url}/admin/v1/session`)
    expect(answer.status()).toBe(401)
    expect(opened().complaints).toEqual([])
  })
})

describe('the files of the console', () => {
  test('come with a strict policy, compressed, for good; the page is never kept', async () => {
    const { url } = purser().info
    const page = await fetch(`${url}/console/any/path`)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toContain('unsafe')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? ''
    const asset = await fetch(`${url}/console/${script}`, { headers: { 'accept-encoding': 'br' } })
    expect(asset.headers.get('content-encoding')).toBe('br')
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect((await fetch(`${url}/console/assets/gone.js`)).status).toBe(404)
    expect((await fetch(`${url}/console/`, { method: 'POST' })).status).toBe(405)
  })

  test('another Host is refused: a foreign name that points at us serves no console', async () => {
    const { url } = purser().info
    const { stdout } = await run('node', [
      '-e',
      `require('node:http').get('${url}/console/', { headers: { host: 'evil.example' } }, (r) => console.log(r.statusCode))`,
    ])
    expect(stdout.trim()).toBe('403')
  })
})
