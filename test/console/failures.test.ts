import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FailureWorld, openFailureWorld } from '../support/failures/failureWorld.js'
import { type HostileParts, hostileParts } from '../support/failures/hostileParts.js'
import { preparedFailures } from '../support/failures/preparedFailures.js'
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
    const mending = remedy.locator('li', { hasText: text }).first()
    const { height } = page.viewportSize() ?? { height: 0 }
    for (const each of [cause, mending]) {
      const box = await each.boundingBox()
      expect(box, 'it is shown').not.toBeNull()
      expect((box?.y ?? 0) + (box?.height ?? height)).toBeLessThanOrEqual(height)
    }
    await appears(code)
  })

  test('one of them looks as it should, and none broke the content policy', async () => {
    await opened().expectFine('failure')
    expect(opened().complaints).toEqual([])
  })
})
