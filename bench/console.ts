/**
 * First contentful paint and scripting of the console's screens, on a processor that is slowed down four times and
 * with an empty cache, in Chromium against a running `purser dev` with some operations. Prints a table. Arguments: the
 * screens that are measured; none = all.
 */
import { resolve } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { openBrowser } from '../test/console/browser.js'
import { devAccount, receiptOf } from '../test/support/service/devAccount.js'
import {
  makeDataFolder,
  removeDataFolder,
  startPurser,
} from '../test/support/service/startPurser.js'

const SLOWER = 4
const RUNS = 5
const OPERATIONS = 12
/** Milliseconds; what is aimed at. */
const goals = { paint: 300, scripting: 150 }

const all = [
  'sign-in',
  'start',
  'operations',
  'overview',
  'policies',
  'tanks',
  'tokens',
  'webhooks',
  'apps',
  'explorer',
  'bundler',
  'audit',
  'settings',
] as const
const named = process.argv.slice(2)
const screens = all.filter((screen) => named.length === 0 || named.includes(screen))

type Figures = { readonly paint: number; readonly scripting: number; readonly whole: number }

/** One first visit to a screen, in milliseconds. */
async function visit(context: BrowserContext, url: string): Promise<Figures> {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  // Time of the page's own thread, so that other work on the machine does not count; the slow-down does.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await page.goto(url)
  await page.locator('h1').first().waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  const whole = Number(await page.evaluate('performance.now()'))
  const { metrics } = await session.send('Performance.getMetrics')
  const paint = await page.evaluate(
    `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
  )
  await page.close()
  const script = metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
  return { paint: Number(paint), scripting: script * 1_000, whole }
}

function middleOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

const folder = makeDataFolder()
// npm runs scripts in the folder of package.json.
const purser = await startPurser(folder, [], {}, resolve('dist/cli.js'))
const browser = await openBrowser()
try {
  const user = await devAccount(purser.info, 'bench-console')
  for (let sent = 0; sent < OPERATIONS; sent++)
    await receiptOf(purser.info, await user.send(await user.sponsored()))
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const first = await context.newPage()
  await first.goto(/\S+\/console\/sign-in#\S+/.exec(purser.output())?.[0] ?? '')
  await first.getByRole('navigation', { name: 'Screens' }).waitFor()
  await first.close()
  const stranger = await browser.newContext({ viewport: { width: 1280, height: 800 } })

  // All screens in turn, so that whatever slows the machine slows all of them.
  const figures = new Map<string, Figures[]>(screens.map((screen) => [screen, []]))
  for (let run = 0; run < RUNS; run++)
    for (const screen of screens) {
      const visitor = screen === 'sign-in' ? stranger : context
      figures.get(screen)?.push(await visit(visitor, `${purser.info.url}/console/${screen}`))
    }
  const rows = [...figures].map(([screen, each]) => {
    const middle = (name: keyof Figures) => middleOf(each.map((one) => one[name]))
    const isMet = middle('paint') <= goals.paint && middle('scripting') <= goals.scripting
    return [
      screen,
      {
        'first paint ms': Math.round(middle('paint')),
        'scripting ms': Math.round(middle('scripting')),
        'all shown ms': Math.round(middle('whole')),
        goal: isMet ? 'met' : 'missed',
      },
    ] as const
  })
  console.log(`median of ${RUNS} first visits, processor ${SLOWER} times slower, empty cache`)
  console.table(Object.fromEntries(rows))
} finally {
  await browser.close()
  await purser.end('SIGTERM')
  removeDataFolder(folder)
}
