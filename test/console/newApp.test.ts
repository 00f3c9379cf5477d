import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { depositOf } from '../support/chain/depositOf.js'
import { adminGet } from '../support/service/adminGet.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'
import { chromiumPath, evaluate } from './browser.js'
import { injectWallet } from './injectWallet.js'
import { sponsoredByViem } from './sponsoredByViem.js'
import { type Console, consoleTitle, useConsole } from './useConsole.js'

const purser = useRunningPurser()
const opened = useConsole()

describe.skipIf(chromiumPath === undefined)(consoleTitle('a new app, by keyboard alone'), () => {
  let page: Console['page']
  const url = (path: string) => `${purser().info.url}/console/${path}`
  const expectFine = (name: string) => opened().expectFine(name)
  const appears = (text: string) => opened().appears(text)

  beforeAll(async () => {
    page = opened().page
    await injectWallet(page, { rpcUrl: purser().info.rpcUrl, key: devKey(1) })
    await page.goto(/\S+\/console\/sign-in#\S+/.exec(purser().output())?.[0] ?? '')
    await appears('Get started')
  })

  const nameOf = `((at) => {
    const label = at.labels?.[0]?.querySelector('.field-name')?.textContent
    return label ?? at.getAttribute('aria-label') ?? at.textContent
  })`
  const focused = `${nameOf}(document.activeElement)`
  const enabled = `[...document.querySelectorAll('a, button, input, select, textarea')]
    .filter((each) => !each.disabled && each.checkVisibility()).map(${nameOf})`
  /** Tab until the focus is on what has this name. */
  const reach = async (name: string) => {
    // It may wait for an answer of the service: no key reaches what is not there, or not enabled.
    await until(async () => (await evaluate<string[]>(page, enabled)).includes(name))
    const passed: unknown[] = []
    while (passed.length < 80) {
      const now = await evaluate(page, focused)
      if (now === name) return
      passed.push(now)
      await page.keyboard.press('Tab')
    }
    throw new Error(`the keyboard does not reach ${name}: ${passed.join(' | ')}`)
  }
  const press = async (name: string) => {
    await reach(name)
    await page.keyboard.press('Enter')
  }
  const write = async (name: string, text: string) => {
    await reach(name)
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type(text)
  }
  const keys = async (...names: string[]) => {
    for (const name of names) await page.keyboard.press(name)
  }
  const heading = (name: string) => page.getByRole('heading', { name }).waitFor()
  const noDialog = () => page.locator('dialog').waitFor({ state: 'detached' })
  let standardUrl = ''

  test('gets a URL', async () => {
    await page.goto(url('apps'))
    await heading('Apps and keys')
    await keys('n')
    await write('Name', 'Arcade')
    await keys('Enter')
    await heading('Arcade')
    await appears('No tank of its own')
    await expectFine('app-new')
    await press('New key')
    await write('Name', 'web')
    await keys('Enter')
    await page.getByRole('button', { name: 'I saved it' }).waitFor()
    standardUrl = String(await page.locator('dialog dd code').last().textContent())
    expect(standardUrl).toContain('/api/v3/')
    await press('I saved it')
    await noDialog()
  })

  test('gets a tank of its owner, which a wallet puts on the chain and fills', async () => {
    const { rpcUrl, entryPoints } = purser().info
    await press('New tank')
    await page.getByRole('dialog', { name: 'New tank' }).waitFor()
    await reach('EntryPoint')
    await page.keyboard.type('v0.8')
    await write('Owner', '0x12')
    await expectFine('tank-new')
    await write('Owner', '')
    await press('The account of Test wallet')
    await reach('Owner')
    await keys('Enter')
    await noDialog()
    await page.getByRole('button', { name: 'Deploy it…' }).waitFor()
    await appears('empty')
    await expectFine('tank-not-there')
    await press('Deploy it…')
    await page.getByLabel('What will happen').getByText('The tank itself').waitFor()
    await expectFine('tank-deploy')
    await press('Send by Test wallet')
    await noDialog()
    await page.locator('.panel .warn').waitFor({ state: 'detached' })
    await press('Deposit…')
    await write('Amount in ether', '1')
    await press('Deposit by Test wallet')
    await noDialog()
    const [, , , appId, id] = new URL(page.url()).pathname.split('/')
    const tank = await adminGet(purser().info, `/apps/${appId}/tanks/${id}`)
    expect(tank.owner).toBe(privateKeyToAccount(devKey(1)).address.toLowerCase())
    expect(await depositOf(rpcUrl, entryPoints['0.8'] ?? '0x', tank.address)).toBe(10n ** 18n)
  })

  test('gets a policy, and has an operation of viem sponsored', async () => {
    await keys('g', 'k')
    await heading('Apps and keys')
    await press('Arcade')
    await heading('Arcade')
    await press('New policy')
    await heading('New policy')
    expect(await page.getByLabel('Applies to').locator('option:checked').textContent()).toBe(
      'Arcade',
    )
    await write('Name', 'A few')
    await press('Save…')
    await press('Create it')
    await noDialog()
    const { userOpHash, success } = await sponsoredByViem(
      purser().info,
      'console-arcade',
      standardUrl,
    )
    expect(success).toBe(true)
    await keys('g', 'o')
    await heading('Operations')
    await page.locator('tbody tr', { hasText: 'Arcade' }).locator('.state-included').waitFor()
    await keys('j', 'Enter')
    await page.locator('.timeline strong', { hasText: 'Sponsored' }).waitFor()
    expect(page.url()).toContain(userOpHash)
    await keys('Escape')
    await page.locator('.panel').waitFor({ state: 'detached' })
  })

  test('no request broke the content policy, and no script failed', () => {
    expect(opened().complaints).toEqual([])
  })
})
