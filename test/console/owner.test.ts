import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { depositOf } from '../support/chain/depositOf.js'
import { type Json, result } from '../support/http/jsonRpc.js'
import { useWebhookServer } from '../support/http/webhookServer.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'
import { chromiumPath } from './browser.js'
import { injectWallet } from './injectWallet.js'
import { sponsoredByViem } from './sponsoredByViem.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

const purser = useRunningPurser()
const opened = useConsole()
const hook = useWebhookServer()

describe.skipIf(chromiumPath === undefined)(consoleTitle('the owner of an app'), () => {
  let page: Console['page']

  /** The answer to a request for a sponsorship with data for webhooks. */
  const sponsorWith = async (webhookData: unknown): Promise<Json> => {
    const { info } = purser()
    const { account, withGas } = await devAccount(info, 'console-webhooks')
    const fees = await result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
    const op = toInterfaceOperation(withGas(await account.draft({ to: TARGET }), fees))
    const mode = { mode: 'SPONSORED', calculateGasLimits: true, sponsorshipInfo: { webhookData } }
    return result(info.paymasterUrl, 'pm_sponsorUserOperation', [op, mode])
  }

  const url = (path: string) => `${purser().info.url}/console/${path}`
  const expectFine = (name: string) => opened().expectFine(name)
  const appears = (text: string | RegExp) => opened().appears(text)
  const button = (name: string | RegExp) => page.getByRole('button', { name })

  const sendByViem = (seed: string) => sponsoredByViem(purser().info, seed)

  /** The lines of the file that the button CSV saves. */
  const savedCsv = async (within: Page | Locator = page): Promise<readonly string[]> => {
    const saved = page.waitForEvent('download')
    await within.getByRole('button', { name: 'CSV' }).click()
    return (await readFile(await (await saved).path(), 'utf8')).trimEnd().split('\r\n')
  }

  beforeAll(async () => {
    page = opened().page
    await page.goto(/\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? '')
    await appears('Get started')
  })

  describe('overview', () => {
    test('of a new service says that nothing needs anybody, and where to begin', async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('v')
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await appears('No operation was received in this period')
      await expectFine('overview-empty')
    })

    test('counts an operation once it is included, and its bar leads to its time', async () => {
      const { info } = purser()
      const user = await devAccount(info, 'console-overview')
      await receiptOf(info, await user.send(await user.sponsored()))
      const received = page.locator('.figures a', { hasText: 'Received' }).locator('strong')
      await received.getByText('1', { exact: true }).waitFor()
      await page.locator('rect.chart-good').first().waitFor()
      await expectFine('overview')
      const before = new URL(page.url()).searchParams
      expect(before.has('from')).toBe(false)
      const area = await page.locator('.chart-area').first().boundingBox()
      if (area === null) throw new Error('the chart has no place')
      const y = area.y + area.height / 2
      await page.mouse.move(area.x + area.width * 0.5, y)
      await page.mouse.down()
      await page.mouse.move(area.x + area.width * 0.999, y, { steps: 4 })
      await page.mouse.up()
      await button('Zoom out').waitFor()
      const { searchParams } = new URL(page.url())
      const [from, until] = ['from', 'until'].map((name) =>
        Date.parse(searchParams.get(name) ?? ''),
      )
      const minutes = ((until ?? 0) - (from ?? 0)) / 60_000
      expect(minutes).toBeGreaterThan(29)
      expect(minutes).toBeLessThan(31)
      await received.getByText('1', { exact: true }).waitFor()
      await page.keyboard.press('[')
      await page.keyboard.press('[')
      await page.keyboard.press('[')
      await received.getByText('0', { exact: true }).waitFor()
    })
  })

  test('spending compares months, by app and by day, and is saved for a spreadsheet', async () => {
    const { info } = purser()
    await sponsoredByViem(info, 'console-wasteful', info.standardUrl, 200_000n)
    await page.keyboard.press('g')
    await page.keyboard.press('Shift+Digit4')
    await page.getByRole('heading', { name: 'Spending' }).waitFor()
    await page.locator('tbody tr', { hasText: 'development' }).getByText('$').first().waitFor()
    await page.locator('tr.is-total').getByText('Total').waitFor()
    await page
      .locator('tr.is-total')
      .getByText(/^about 0\.\d+ Ξ$/)
      .waitFor()
    await appears(/About 0\.\d+ Ξ was charged for unused gas.*send the callGasLimit/)
    await expectFine('spending')
    await page.getByRole('link', { name: 'By day' }).click()
    await page.locator('tbody tr', { hasText: new Date().toISOString().slice(0, 10) }).waitFor()
    await expectFine('spending-day')
    expect((await savedCsv())[0]).toMatch(/^day,app,/)
  })

  describe('policies', () => {
    const other = `0x${'0b'.repeat(20)}` as const

    test('an account without any sees what that means', async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('p')
      await page.getByRole('heading', { name: 'Policies' }).waitFor()
      await appears('No policy: everything is sponsored')
      await expectFine('policies-empty')
    })

    test('a draft is checked while it is written, and tried on what was sent', async () => {
      await page.keyboard.press('n')
      await page.getByRole('heading', { name: 'New policy' }).waitFor()
      await appears('These terms restrict nothing')
      await page.getByLabel('Name').fill('Mint')
      await button('Only certain calls').click()
      await page.getByLabel('Target of call 1').fill('0x12')
      await page.getByLabel('Function of call 1').fill('mint(uint256)')
      await page.getByLabel('Function of call 1').blur()
      await page.getByLabel('Mistakes').getByText('calls.allow.0.target').waitFor()
      await expectFine('policy-mistake')
      await page.getByLabel('Target of call 1').fill(other)
      await page.getByLabel('Function of call 1').focus()
      await page.getByLabel('Mistakes').waitFor({ state: 'detached' })
      await button('Add a budget').click()
      await button('Run').click()
      await page.locator('.trial-sum').getByText('2 would be refused').waitFor()
      await page.locator('.trial-codes').getByText('CALL_NOT_ALLOWED').waitFor()
      await expectFine('policy-new')
      await page.getByRole('link', { name: 'JSON' }).click()
      const json = await page.getByLabel('The terms as JSON').inputValue()
      expect(JSON.parse(json)).toEqual({
        calls: { allow: [{ target: other, function: 'mint(uint256)' }] },
        budgets: [{ per: 'sender', limit: { count: 20 }, window: 'day' }],
      })
      await button('Save…').click()
      await button('Create it').click()
      await page.getByRole('heading', { name: 'Mint' }).waitFor()
    })

    test('terms that the form cannot show stay JSON, and every valid time is shown', async () => {
      const json = page.getByLabel('The terms as JSON')
      const incomplete = page.getByText('The JSON is not complete')
      await page.getByRole('link', { name: 'JSON' }).click()
      const before = await json.inputValue()
      for (const wrong of ['{"budgets":[{"per":"sender"}]}', '{"allowSenders":"0x12"}']) {
        await json.fill(wrong)
        await page.getByLabel('Mistakes').locator('li').first().waitFor()
        await page.getByRole('link', { name: 'Form' }).click()
        await incomplete.waitFor()
        await page.getByRole('link', { name: 'JSON' }).click()
      }
      await json.fill(JSON.stringify({ ...JSON.parse(before), validUntil: 0xffff_ffff_ffff }))
      await page.getByRole('link', { name: 'Form' }).click()
      await page.getByLabel('Until').waitFor()
      expect(await page.getByLabel('Until').inputValue()).toBe('')
      await button('Discard').click()
      await page.getByLabel('Function of call 1').waitFor()
    })

    test('viem is refused, and its refusal leads to the policy that refused', async () => {
      await expect(sendByViem('console-viem-refused')).rejects.toThrow('is not among those')
      await page.goto(url('operations?view=refused'))
      await page.locator('tbody tr').first().click()
      await page.locator('.remedy').getByText('CALL_NOT_ALLOWED').waitFor()
      await page.getByRole('link', { name: 'Open the policy that refused' }).click()
      await page.getByLabel('Rule by rule').locator('.bad').waitFor()
      expect(new URL(page.url()).searchParams.get('decision')).not.toBeNull()
    })

    test('from a refusal to the policy that refused, fixed there, and then it is sponsored', async () => {
      const { info } = purser()
      const user = await devAccount(info, 'console-policy')
      await expect(user.sponsored()).rejects.toThrow('not sponsored')
      await page.goto(url('operations?view=not-sponsored'))
      await page.locator('tbody tr').first().click()
      await page.locator('.remedy').getByText('CALL_NOT_ALLOWED').waitFor()
      await page.getByRole('link', { name: 'Open the policy that refused' }).click()
      await page.getByLabel('Rule by rule').locator('.bad').waitFor()
      await expectFine('policy-refused')
      await button('Add a call').click()
      await button('Run').click()
      await page.locator('.trial-sum').getByText('1 pass').waitFor()
      await page.getByLabel('Rule by rule').locator('.bad').waitFor({ state: 'detached' })
      await button('Save…').click()
      await page.locator('.difference .new').first().waitFor()
      await expectFine('policy-save')
      await button('Save it').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
      const { userOpHash, success } = await sendByViem('console-viem-sponsored')
      expect(success).toBe(true)
      await page.goto(url(`operations/${info.chainId}/${userOpHash}`))
      await page.locator('.timeline strong', { hasText: 'Sponsored' }).waitFor()
      await page.goto(url('policies'))
      await page.locator('tbody tr', { hasText: 'Mint' }).waitFor()
      await expectFine('policies')
      await page.keyboard.press('j')
      await page.locator('tr[aria-current]').waitFor()
      await page.keyboard.press('Enter')
      const use = page.getByLabel('Usage')
      await use.getByText('20 operations a day for each sender').waitFor()
      await use.locator('.bar', { hasText: '1 of 20' }).getByText('5 %').first().waitFor()
      const anew = (await use.locator('time').getAttribute('datetime')) ?? ''
      expect(anew).toMatch(/T00:00:00.000Z$/)
      await expectFine('policy')
      await page.goto(url('apps'))
      await page.locator('tbody tr', { hasText: 'development' }).first().click()
      const ofApp = page.getByRole('region', { name: 'Usage of Mint' })
      await ofApp.locator('.bar', { hasText: '1 of 20' }).getByRole('meter').first().waitFor()
      await expectFine('app-budgets')
    })
  })

  describe('tokens', () => {
    test('show price, sources and age; without a price, why and what that means', async () => {
      const { rpcUrl, tokens } = purser().info
      const [good, other] = tokens
      if (good === undefined || other === undefined) throw new Error('there are no two tokens')
      const node = (method: string, ...params: unknown[]) => result(rpcUrl, method, params)
      const code = await node('eth_getCode', other.address, 'latest')
      // No quote has asked for its price yet: the first look finds no contract.
      await node('anvil_setCode', other.address, '0x')
      try {
        await page.keyboard.press('g')
        await page.keyboard.press('m')
        const row = (symbol: string) => page.locator('tbody tr', { hasText: symbol })
        await row(good.symbol).getByText('= 3,000').waitFor()
        await row(other.symbol).getByText('no price').waitFor()
        await expectFine('tokens-priced')
        await row(other.symbol).click()
        await page.locator('.warn').getByText('PRICE_STALE').waitFor()
        await page.locator('.warn').getByText('has no decimals').waitFor()
        await page.locator('.sources').getByText('not asked').waitFor()
        await expectFine('token-stale')
      } finally {
        await node('anvil_setCode', other.address, code)
      }
      await page.goto(url(`tokens/${purser().info.chainId}/${good.address}`))
      await page.locator('.sources').getByText('3,000').waitFor()
      expect(await page.locator('.sources .tag').count()).toBe(0)
      await expectFine('token')
    })
  })

  describe('tanks', () => {
    const ether = 10n ** 18n

    test('are listed with what is free and how long it lasts', async () => {
      await page.keyboard.press('g')
      await page.keyboard.press('t')
      await page.locator('tbody tr').first().waitFor()
      expect(await page.locator('tbody tr').count()).toBeGreaterThan(1)
      await expectFine('tanks')
      await button('New tank').click()
      await page.getByRole('dialog', { name: 'New tank' }).waitFor()
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    })

    test('without a wallet the dialog says what to do instead', async () => {
      await page.locator('tbody tr', { hasText: 'v0.6 · gives gas' }).first().click()
      await button('Deposit…').click()
      await appears('No wallet of this browser has announced itself')
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      await expectFine('tank')
    })

    test('a wallet deposits what was said before, and its owner alone withdraws', async () => {
      const { rpcUrl, entryPoints, tanks } = purser().info
      const [entryPoint, tank] = [entryPoints['0.6'], tanks['0.6']]
      if (entryPoint === undefined || tank === undefined) throw new Error('there is no tank')
      const deposit = () => depositOf(rpcUrl, entryPoint, tank)
      const before = await deposit()
      const wallet = await injectWallet(page, { rpcUrl, key: devKey(1) })
      await page.reload()
      await page.locator('.level').waitFor()

      wallet.declines = true
      await button('Deposit…').click()
      await page.getByLabel('Amount in ether').fill('0,5')
      await appears('The amount must be a number such as 0.5.')
      await page.getByLabel('Amount in ether').fill('0.5')
      await page.getByLabel('What will happen').getByText('0.5 Ξ').first().waitFor()
      await expectFine('tank-deposit')
      await button('Deposit by Test wallet').click()
      await appears('The wallet declined')
      expect(await deposit()).toBe(before)
      wallet.declines = false
      await button('Deposit by Test wallet').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
      expect(await deposit()).toBe(before + ether / 2n)

      await button('Withdraw…').click()
      await page.getByLabel('Amount in ether').fill('100000')
      await appears(/Only .* are free/)
      await page.getByLabel('Amount in ether').fill('0.25')
      await button('Withdraw by Test wallet').click()
      await appears('Only the owner')
      await expectFine('tank-withdraw-refused')
      wallet.account = privateKeyToAccount(devKey(0))
      await button('Withdraw by Test wallet').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
      expect(await deposit()).toBe(before + ether / 4n)

      let giveReceipts = () => {}
      wallet.receipts = new Promise<void>((resolve) => {
        giveReceipts = resolve
      })
      await button('Deposit…').click()
      await page.getByLabel('Amount in ether').fill('0.25')
      await button('Deposit by Test wallet').click()
      await appears('waiting for its block')
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      await button('Withdraw…').click()
      giveReceipts()
      // What a dialog began that is closed says nothing any more, and closes no other one.
      await button('Withdraw by Test wallet').waitFor()
      await page.getByLabel('Amount in ether').fill('100000')
      await appears(/Only .* are free/)
      expect(await page.getByText(/^Deposited 0\.25/).count()).toBe(0)
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    })

    test('an alert is set, and shown', async () => {
      await button('Alert…').click()
      await page.getByLabel('Below, in ether').fill('100000')
      await button('Set it').click()
      await appears('below 100,000 Ξ')
    })
  })

  describe('webhooks', () => {
    /** Keeps a secret that is shown once. */
    const keepSecret = async (): Promise<string> => {
      const secret = (await page.locator('dialog code', { hasText: 'whsec_' }).textContent()) ?? ''
      await button('I saved it').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
      return secret
    }

    test('one that approves is registered, and its test shows the bytes that it received', async () => {
      await page.goto(url('overview'))
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('w')
      await appears('No approval webhook')
      await expectFine('webhooks-empty')
      await button('New webhook').click()
      await page.locator('input[name=url]').fill(hook.url())
      await expectFine('webhook-new')
      await button('Register it').click()
      const secret = await keepSecret()
      await button('Test it').click()
      await page.getByLabel('The test').getByText('approved').waitFor()
      const [received] = hook.calls
      if (received === undefined) throw new Error('nothing was received')
      const shown = await page.getByLabel('The test').locator('pre').textContent()
      expect(shown).toContain(received.body)
      expect(shown).toContain(received.headers['webhook-signature'])
      const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
        (name) => [name, String(received.headers[name])] as const,
      )
      expect(() =>
        new Webhook(secret).verify(received.body, Object.fromEntries(signed)),
      ).not.toThrow()
      await expectFine('webhook-test')
    })

    test('its row is left and opened again by keys, which the sheet of keys lists', async () => {
      const open = page.url()
      await page.keyboard.press('Escape')
      await page.locator('.panel').waitFor({ state: 'detached' })
      await page.keyboard.press('?')
      const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await sheet.getByText('next row').waitFor()
      expect(await sheet.getByRole('heading').allTextContents()).toEqual([
        'Keyboard shortcuts',
        'This list',
        'Kind of webhook',
        'Everywhere',
      ])
      await expectFine('webhook-keys')
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      await page.keyboard.press('j')
      await page.locator('tr[aria-current]').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('.panel').waitFor()
      expect(page.url()).toBe(open)
    })

    test('its calls are listed with what it said; one that fails is paused, and that is said', async () => {
      expect((await sponsorWith({ order: 7 })).sponsorship.sponsored).toBe(true)
      await page.locator('.panel tbody').getByText('approved').waitFor()
      hook.answer = { status: 500, body: '{}' }
      for (let failure = 0; failure < 5; failure += 1)
        expect((await sponsorWith({ order: failure })).sponsorship.sponsored).toBe(false)
      await page.locator('.panel-head').getByText('paused').waitFor()
      await expectFine('webhook-circuit')
      const rows = await savedCsv(page.locator('.panel'))
      expect(rows.filter((row) => row.includes('http_status'))).toHaveLength(5)
    })

    test('a new secret is made and shown once, and a webhook is turned off and deleted', async () => {
      await button('New secret…').click()
      await button('Create it').click()
      expect(await keepSecret()).toMatch(/^whsec_/)
      await button('Turn off').click()
      await button('Turn on').waitFor()
      await button('Delete…').click()
      await button('Delete it').click()
      await appears('No approval webhook')
    })

    test('events are sent, listed with their attempts, and sent again', async () => {
      await page.getByRole('link', { name: 'Events' }).click()
      await appears('No subscription')
      await expectFine('events-empty')
      await button('New subscription').click()
      await page.locator('input[name=url]').fill(hook.url().replace('/approve', '/events'))
      await expectFine('events-new')
      await button('Subscribe').click()
      await keepSecret()
      const { info } = purser()
      const user = await devAccount(info, 'console-events')
      await receiptOf(info, await user.send(await user.sponsored()))
      const row = page.locator('.deliveries li', { hasText: 'user_operation.included' })
      await row.getByText('delivered').waitFor()
      const ofEvent = () =>
        hook.calls.filter(({ body }) => body.includes('user_operation.included'))
      expect(ofEvent()).toHaveLength(1)
      await expectFine('events')
      const rows = await savedCsv(page.locator('.panel'))
      expect(rows.filter((row) => row.includes('user_operation.included'))).toHaveLength(1)
      await row.getByRole('button', { name: /Send again/ }).click()
      await until(async () => ofEvent().length === 2)
      expect(ofEvent()[0]?.headers['webhook-id']).toBe(ofEvent()[1]?.headers['webhook-id'])
      const open = page.url()
      await page.keyboard.press('Escape')
      await page.locator('.panel').waitFor({ state: 'detached' })
      await page.keyboard.press('1')
      await appears('No approval webhook')
      await page.keyboard.press('2')
      await page.locator('tbody tr').waitFor()
      await page.keyboard.press('j')
      await page.locator('tr[aria-current]').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('.deliveries').waitFor()
      expect(page.url()).toBe(open)
    })
  })

  test('without a connection what was shown stays, and it is said', async () => {
    await page.goto(url('overview'))
    // Two by the policy and five by the webhook, each with a decision and an error: counted once.
    const refused = page.locator('.figures a', { hasText: 'Refused' }).locator('strong')
    await refused.getByText('7', { exact: true }).waitFor()
    await opened().context.setOffline(true)
    await page.getByText('No connection.').first().waitFor()
    expect(await page.locator('.figures li').count()).toBe(6)
    await expectFine('overview-no-connection')
    await opened().context.setOffline(false)
    await page.getByText('No connection.').first().waitFor({ state: 'detached' })
  })

  test('no request broke the content policy', () => {
    expect(opened().complaints).toEqual([])
  })
})
