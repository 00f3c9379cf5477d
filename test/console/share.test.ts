import { beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { chromiumPath, seriousFindings } from './browser.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

const purser = useRunningPurser()
const opened = useConsole()

describe.skipIf(chromiumPath === undefined)(consoleTitle('links and statements'), () => {
  let page: Console['page']
  let link: string

  beforeAll(async () => {
    page = opened().page
    await page.goto(/\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? '')
    await opened().appears('Get started')
  })

  test('is made on the page of the operation, and listed there', async () => {
    const { info } = purser()
    const user = await devAccount(info, 'console-share')
    const hash = await user.send(await user.sponsored())
    await receiptOf(info, hash)
    await page.goto(`${info.url}/console/operations/${info.chainId}/${hash}`)
    await page.getByRole('button', { name: 'Share' }).click({ timeout: 20_000 })
    await opened().expectFine('share-new')
    await page.getByRole('button', { name: 'Make the link' }).click()
    link = (await page.locator('dialog dd code').textContent()) ?? ''
    expect(link).toContain(`/console/shared/${info.chainId}/${hash}#sh.`)
    await page.getByRole('button', { name: 'I saved it' }).click()
    await page.getByRole('button', { name: 'Withdraw' }).waitFor()
  })

  test('shows the operation to a browser that is not signed in, and nothing around it', async () => {
    const context = await opened().browser.newContext({ viewport: { width: 1280, height: 800 } })
    const reader = await context.newPage()
    const asked: string[] = []
    reader.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.startsWith('/admin/'))
        asked.push(`${response.status()} ${pathname.replace(/0x\w+/, 'HASH')}`)
    })
    await reader.goto(link)
    await reader.getByText('What happened').waitFor({ timeout: 20_000 })
    await reader.getByText('Charged', { exact: true }).waitFor({ timeout: 20_000 })
    expect(await reader.locator('nav').count()).toBe(0)
    expect(await reader.getByRole('button', { name: 'Share' }).count()).toBe(0)
    const { chainId } = purser().info
    expect([...new Set(asked)].sort()).toEqual([
      '200 /admin/v1/chains',
      `200 /admin/v1/operations/${chainId}/HASH`,
      `200 /admin/v1/operations/${chainId}/HASH/waterfall`,
    ])
    expect(await seriousFindings(reader)).toEqual([])
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('button', { name: 'Withdraw' }).waitFor({ state: 'detached' })
    await reader.reload()
    await reader.getByText('This link shows nothing').waitFor({ timeout: 20_000 })
    await context.close()
    expect(opened().complaints).toEqual([])
  })

  test('a month that is not over cannot be signed; a range that is over makes a page to print', async () => {
    const { info } = purser()
    await page.goto(`${info.url}/console/spending`)
    await page.getByRole('button', { name: /^Sign \d/ }).click({ timeout: 20_000 })
    await page.getByRole('button', { name: 'Sign it' }).click()
    await page.getByRole('alert').getByText('not final yet').waitFor({ timeout: 20_000 })
    await opened().expectFine('statement-early')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    const headers = { authToken: info.authToken, 'content-type': 'application/json' }
    const { items } = (await (await fetch(`${info.url}/admin/v1/apps`, { headers })).json()) as Json
    const made = await fetch(`${info.url}/admin/v1/apps/${items[0].id}/statements`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ from: at(90), until: at(60) }),
    })
    expect(made.status).toBe(201)
    await page.reload()
    await page.getByRole('region', { name: 'Statements' }).locator('tbody a').click()
    await page.getByText('Nothing was spent in this range').waitFor({ timeout: 20_000 })
    await opened().expectFine('statement')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.rail').isVisible()).toBe(false)
    expect(await page.getByRole('heading', { name: 'Statement' }).isVisible()).toBe(true)
    await page.emulateMedia({ media: 'screen' })
  })
})
