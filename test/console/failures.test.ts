import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FailureWorld, openFailureWorld } from '../support/failures/failureWorld.js'
import { callData, type HostileParts, hostileParts } from '../support/failures/hostileParts.js'
import { preparedFailures } from '../support/failures/preparedFailures.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { chromiumPath } from './browser.js'
import { consoleTitle, useConsole } from './useConsole.js'

const email = 'operator@example.com'
const password = 'seven grey elephants, walking'
const opened = useConsole()

/** Where the console shows what a route answers: at the same path, or among the operations with a code. */
function placeOf(path: string): string {
  return path.replace(/^\/explain\?/, '/operations?')
}

describe.skipIf(chromiumPath === undefined)(consoleTitle('a failure on the first screen'), () => {
  let world: FailureWorld
  let parts: HostileParts

  beforeAll(async () => {
    world = await openFailureWorld(41_338, {
      PURSER_ADMIN_EMAIL: email,
      PURSER_ADMIN_PASSWORD: password,
    })
    parts = await hostileParts(world)
    const { page } = opened()
    await page.goto(`${world.info.url}/console/sign-in`)
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Screens' }).waitFor()
  })
  afterAll(() => world?.stop())

  test.each(preparedFailures)('$name', async ({ prepare, code, step }) => {
    const { path } = await prepare(world, parts)
    const { page, appears } = opened()
    await page.goto(`${world.info.url}/console${placeOf(path)}`)
    const remedy = page.locator('.remedy')
    await remedy.waitFor()
    const cause = remedy.locator('.remedy-code')
    expect(await cause.textContent()).toContain(code)
    // Code is shown as code, without its backticks.
    const text = new RegExp(step.source.replaceAll('`', ''))
    const fix = remedy.locator('li', { hasText: text }).first()
    const { height } = page.viewportSize() ?? { height: 0 }
    for (const each of [cause, fix]) {
      const box = await each.boundingBox()
      expect(box, 'it is shown').not.toBeNull()
      expect((box?.y ?? 0) + (box?.height ?? height)).toBeLessThanOrEqual(height)
    }
    await appears(code)
  })

  test('a call that failed is shown where it failed, without a click, and can be tried otherwise', async () => {
    const { page, expectFine } = opened()
    const abi =
      'function fail(string reason)\nfunction execute(address dest, uint256 value, bytes func)'
    await world.admin('POST', `/apps/${world.appId}/abi`, { abi })
    const { account, fund, sign, send } = await devAccount(world.info, 'support')
    await fund()
    const target = await parts.placeSettable()
    const draft = await account.draft({ to: target, data: callData.fail('sold out') })
    const limits = { callGasLimit: 100_000n, verificationGasLimit: 500_000n }
    const op = { ...draft, ...(await parts.fees()), ...limits, preVerificationGas: 100_000n }
    const hash = await send(await sign(op))
    await receiptOf(world.info, hash)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`${world.info.url}/console/operations/${world.info.chainId}/${hash}`)
    const fault = page.locator('.frames .fault')
    await fault.waitFor()
    expect(await fault.textContent()).toMatch(/fail.*sold out/)
    const { y = 0, height = 0 } = (await page.locator('.fault-line').boundingBox()) ?? {}
    expect(y + height, 'above the fold').toBeLessThan(900)
    expect(await page.locator('.fault-line').textContent()).toMatch(/fail.*sold out/)
    await expectFine('failed-call')

    await page.getByText('What if…').click()
    await page.getByLabel('callData').fill('0x')
    await page.getByRole('button', { name: 'Run it so' }).click()
    await page.getByText('With these changes it succeeds').waitFor()
    await expectFine('failed-call-what-if')
    await page.getByRole('button', { name: 'As it was' }).click()
    await fault.waitFor()
    await page.getByText('Where the money went').scrollIntoViewIfNeeded()
    await expectFine('failed-call-money')
  })

  test('one of them looks as it should, and none broke the content policy', async () => {
    await opened().expectFine('failure')
    expect(opened().complaints).toEqual([])
  })
})
