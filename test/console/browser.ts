import { existsSync, readFileSync } from 'node:fs'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The Chromium of the machine, or the one that PURSER_CHROMIUM names; undefined = there is none. */
export const chromiumPath = [process.env.PURSER_CHROMIUM ?? '', ...places].find(existsSync)

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
}

/** The context of a new visitor. Its pages wait 90 s, as `until` does; Playwright gives up after 30 s. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(90_000)
  return context
}

/**
 * What Chromium answers. Playwright does not bound evaluations and sizes.
 * @throws Error that names what was asked, after a minute
 */
export async function inTime<T>(what: string, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer for a minute`)), 60_000)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/** What a script gives in the page. */
export function evaluate<T>(page: Page, script: string): Promise<T> {
  return inTime(script.slice(0, 80), page.evaluate<T>(script))
}

const axe = () => readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

const seen = `axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) =>
  ({ id, impact, nodes: nodes.map(({ html }) => html.slice(0, 160)) })))`

type Finding = { readonly id: string; readonly impact: string; readonly nodes: readonly unknown[] }

/** What axe finds that is serious or critical, each with the elements. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // Through the debugger, which the content policy does not concern.
  await evaluate(page, axe())
  const findings = await evaluate<readonly Finding[]>(page, seen)
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.join(' | ')}`)
}
