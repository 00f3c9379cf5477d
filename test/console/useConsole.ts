import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { chromiumPath, inTime, openBrowser, openContext, seriousFindings } from './browser.js'

/** The folder into which `npm run console:pictures` writes; absent = none is taken. */
const pictures = process.env.PURSER_PICTURES

/** What a test of the console says where there is no browser. */
export function consoleTitle(what: string): string {
  return chromiumPath === undefined
    ? `${what}: NOT TESTED, no Chromium here (apt-get install chromium, or PURSER_CHROMIUM)`
    : `${what}, in Chromium`
}

/** A browser with a page for the tests of a file. */
export type Console = {
  readonly browser: Browser
  readonly context: BrowserContext
  readonly page: Page
  /** Requests that broke the content policy, and errors of scripts. */
  readonly complaints: readonly string[]
  /** Waits for a text. */
  appears(text: string | RegExp): Promise<void>
  /** Nothing that axe finds serious, one page that scrolls no way it should not; pictures where they are asked for. */
  expectFine(name: string): Promise<void>
}

const widths = [1440, 1280, 390]

/** One browser for all tests of a file. The returned function gives it once it runs. */
export function useConsole(): () => Console {
  let opened: Console | undefined
  beforeAll(async () => {
    if (chromiumPath !== undefined) opened = await openConsole()
  })
  afterAll(() => opened?.browser.close())
  return () => {
    if (opened === undefined) throw new Error('The browser does not run yet.')
    return opened
  }
}

async function openConsole(): Promise<Console> {
  const browser = await openBrowser()
  const context = await openContext(browser, {
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (/content security policy|trusted ?type/i.test(message.text()))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return {
    browser,
    context,
    page,
    complaints,
    appears: (text) => page.getByText(text).first().waitFor(),
    async expectFine(name) {
      expect(await seriousFindings(page), name).toEqual([])
      await look(page, name)
    },
  }
}

/** What lies beyond the edges of its card, and how many pages there are, above and below the fold. */
const layout = `({
  mains: document.querySelectorAll('main').length,
  // But for a part of a pixel that is rounded.
  isLonger: document.documentElement.scrollHeight - 1
    > Math.max(innerHeight, document.getElementById('console').getBoundingClientRect().bottom + scrollY),
  wide: document.documentElement.scrollWidth,
  outside: [...document.querySelectorAll('.card, .side-list > .list')].flatMap((card) => {
    const { right } = card.getBoundingClientRect()
    const scrolls = (element) => element !== card && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement))
    return [...card.querySelectorAll('*')]
      .filter((each) => each.getBoundingClientRect().right > right + 1 && !scrolls(each.parentElement))
      .map((each) => each.outerHTML.slice(0, 120))
  }),
})`

/** Whether the page is drawn within ten seconds: its scripts hear of a new size with the first frame. */
const isDrawn = `Promise.race([
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)))),
  new Promise((resolve) => setTimeout(resolve, 10_000, false)),
])`

/** Resolves when the page has been drawn in this width. */
async function resize(page: Page, width: number): Promise<void> {
  const size = (height: number) => inTime('a size', page.setViewportSize({ width, height }))
  const drawn = () => inTime('a frame', page.evaluate(isDrawn))
  await size(800)
  if (await drawn()) return
  // Chromium without a screen may lose a frame, and draws the next one when the size changes again.
  await size(801)
  await size(800)
  expect(await drawn(), `Chromium draws at ${width}`).toBe(true)
}

/** The screen in light and dark, wide and narrow, none of which scrolls sideways. */
async function look(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of widths) {
      await inTime('a theme', page.emulateMedia({ colorScheme }))
      await resize(page, width)
      expect(await inTime('the layout', page.evaluate(layout)), `${name} at ${width}`).toEqual({
        mains: 1,
        isLonger: false,
        wide: width,
        outside: [],
      })
      if (pictures === undefined) continue
      const path = join(pictures, `${name}-${colorScheme}-${width}.png`)
      await page.screenshot({ path, animations: 'disabled', fullPage: true })
    }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 800 })
}
