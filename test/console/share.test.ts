import { readFile } from 'node:fs/promises'
import { encodeFunctionData, erc20Abi, http, parseUnits } from 'viem'
import { createBundlerClient, createPaymasterClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, test } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { withBooks } from '../support/database/books.js'
import { storeOperation } from '../support/database/fillTenant.js'
import type { Json } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed } from '../support/service/devTokens.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until as untilTrue } from '../support/until.js'
import { chromiumPath, evaluate, openContext, seriousFindings } from './browser.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

/** Sends an operation that approves the token tank, and pays it. */
async function payInTokens(info: DevInfo, seed: string): Promise<void> {
  const token = tokenNamed(info, 'tUSD')
  const account = await simpleSmartAccount(info, '0.6', seed)
  await giveTokens(info, token, account.address, parseUnits('100', 6))
  const tank = info.tokenTanks['0.6'] as `0x${string}`
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [tank, parseUnits('50', 6)],
  })
  const client = createBundlerClient({
    chain: foundry,
    client: nodeClient(info),
    pollingInterval: 100,
    transport: http(info.standardUrl),
    paymaster: createPaymasterClient({ transport: http(info.standardUrl) }),
    paymasterContext: { token: token.address },
  })
  const hash = await client.sendUserOperation({ account, calls: [{ to: token.address, data }] })
  await client.waitForUserOperationReceipt({ hash })
}

const purser = useRunningPurser()
const opened = useConsole()

describe.skipIf(chromiumPath === undefined)(consoleTitle('links, statements and files'), () => {
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
    await page.getByRole('button', { name: 'Share' }).click()
    await opened().expectFine('share-new')
    await page.getByRole('button', { name: 'Make the link' }).click()
    link = (await page.locator('dialog dd code').textContent()) ?? ''
    expect(link).toContain(`/console/shared/${info.chainId}/${hash}#sh.`)
    await page.getByRole('button', { name: 'I saved it' }).click()
    await page.getByRole('button', { name: 'Withdraw' }).waitFor()
  })

  test('shows the operation to a browser that is not signed in, and nothing around it', async () => {
    const context = await openContext(opened().browser, { viewport: { width: 1280, height: 800 } })
    const reader = await context.newPage()
    const asked: string[] = []
    reader.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.startsWith('/admin/'))
        asked.push(`${response.status()} ${pathname.replace(/0x\w+/, 'HASH')}`)
    })
    await reader.goto(link)
    await reader.getByText('What happened').waitFor()
    await reader.getByText('Charged', { exact: true }).waitFor()
    expect(await reader.locator('nav').count()).toBe(0)
    expect(await reader.getByRole('button', { name: 'Share' }).count()).toBe(0)
    const { chainId } = purser().info
    // What is shown needs not all of the answers.
    await untilTrue(async () => new Set(asked).size >= 3)
    expect([...new Set(asked)].sort()).toEqual([
      '200 /admin/v1/chains',
      `200 /admin/v1/operations/${chainId}/HASH`,
      `200 /admin/v1/operations/${chainId}/HASH/waterfall`,
    ])
    expect(await seriousFindings(reader)).toEqual([])
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('button', { name: 'Withdraw' }).waitFor({ state: 'detached' })
    await reader.reload()
    await reader.getByText('This link shows nothing').waitFor()
    await context.close()
    expect(opened().complaints).toEqual([])
  })

  test('a month that is not over cannot be signed; a range that is over makes a page to print', async () => {
    const { info } = purser()
    await page.goto(`${info.url}/console/spending`)
    await page.getByRole('button', { name: /^Sign \d/ }).click()
    await page.getByRole('button', { name: 'Sign it' }).click()
    await page.getByRole('alert').getByText('not final yet').waitFor()
    await opened().expectFine('statement-early')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    const headers = { authToken: info.authToken, 'content-type': 'application/json' }
    const { items } = (await (await fetch(`${info.url}/admin/v1/apps`, { headers })).json()) as Json
    appId = items[0].id
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    await page.goto(`${info.url}/console/spending/${await sign(at(90), at(60))}`)
    await page.getByText('Nothing was spent in this range').waitFor()
    await opened().expectFine('statement')
  })

  let appId = ''
  /** Signs a range, as soon as its blocks are final. */
  const sign = (from: Date, until: Date): Promise<string> =>
    untilTrue(async () => {
      const { info } = purser()
      const made = await fetch(`${info.url}/admin/v1/apps/${appId}/statements`, {
        method: 'POST',
        headers: { authToken: info.authToken, 'content-type': 'application/json' },
        body: JSON.stringify({ from, until }),
      })
      if (made.status === 409) return undefined
      expect(made.status).toBe(201)
      return ((await made.json()) as Json).id
    })

  test('a statement names what was sponsored, what failed and what was paid in tokens, and fits on paper', async () => {
    const { info } = purser()
    const user = await devAccount(info, 'console-statement')
    await receiptOf(info, await user.send(await user.sponsored()))
    await user.fund()
    const failing = await user.sponsored({ to: TARGET, value: 1n })
    await user.fund(0n)
    await receiptOf(info, await user.send(failing))
    await payInTokens(info, 'console-statement-tokens')
    await anvilClient(info.rpcUrl).mine({ blocks: 100, interval: 1 })
    const now = Date.now()
    await page.goto(
      `${info.url}/console/spending/${await sign(new Date(now - 3_600_000), new Date(now))}`,
    )
    const rows = page.locator('.statement tbody tr')
    await rows.first().waitFor()
    await rows.filter({ hasText: /paid in tokens: [\d.]+ tUSD/ }).waitFor()
    await opened().expectFine('statement-lines')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.rail').isVisible()).toBe(false)
    expect(await page.getByRole('heading', { name: 'Statement' }).isVisible()).toBe(true)
    // A4 in points at 96 dpi, without its margins.
    await page.setViewportSize({ width: 718, height: 1_000 })
    expect(await evaluate(page, 'document.documentElement.scrollWidth')).toBe(718)
    await page.getByRole('columnheader', { name: 'Operations' }).click({ trial: true })
    expect(await page.locator('.statement .facts').first().textContent()).toMatch(/\d UTC/)
    const pictures = process.env.PURSER_PICTURES
    if (pictures !== undefined) {
      await page.screenshot({ path: `${pictures}/statement-print.png`, fullPage: true })
      await page.pdf({ path: `${pictures}/statement.pdf`, format: 'A4' })
    }
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('a long list is saved page by page: the button says how many rows, and stops it', async () => {
    const { info, dataFolder } = purser()
    await withBooks(dataFolder, async (database) => {
      for (let n = 0; n < 450; n++) await storeOperation(database, appId)
    })
    await page.goto(`${info.url}/console/operations`)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'NDJSON' }).click()
    const text = await readFile(await (await saved).path(), 'utf8')
    const hashes = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).userOpHash)
    expect(hashes.length).toBeGreaterThan(450)
    expect(new Set(hashes).size).toBe(hashes.length)
    // The second page is asked for once the button was seen.
    let proceed = () => {}
    const seen = new Promise<void>((resolve) => {
      proceed = resolve
    })
    await page.route(/operations\?.*limit=200.*before=/, async (route) => {
      await seen
      await route.continue().catch(() => {})
    })
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.getByRole('button', { name: '200 rows · stop' }).click()
    await opened().appears('Stopped: operations.csv is not saved')
    proceed()
    await page.getByRole('button', { name: 'CSV' }).waitFor()
    await page.unroute(/operations\?.*limit=200.*before=/)
    expect(opened().complaints).toEqual([])
  })
})
