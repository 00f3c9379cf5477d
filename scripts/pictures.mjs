#!/usr/bin/env node
// Writes docs/pictures: screens of the console, light and dark, from a service with the operations of `purser demo`.
// Needs a build (`npm run build`) and Chromium (`apt-get install chromium`, or PURSER_CHROMIUM).
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = [process.env.PURSER_CHROMIUM ?? '', ...places].find(existsSync)
if (executablePath === undefined)
  throw new Error('Chromium is missing: apt-get install chromium, or set PURSER_CHROMIUM.')
const target = 'docs/pictures'
mkdirSync(target, { recursive: true })

const data = mkdtempSync(join(tmpdir(), 'purser-pictures-'))
const service = spawn(process.execPath, ['dist/cli.js', 'dev', '--data', data, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let output = ''
try {
  await new Promise((resolve, reject) => {
    service.stdout.on('data', (chunk) => {
      output += chunk
      if (output.includes('Purser is ready')) resolve()
    })
    service.once('exit', (code) => reject(new Error(`The service ended with ${code}:\n${output}`)))
  })
  execFileSync(process.execPath, ['dist/cli.js', 'demo', '--data', data], { stdio: 'ignore' })
  await takePictures()
} finally {
  service.removeAllListeners('exit')
  service.kill('SIGINT')
  if (service.exitCode === null) await once(service, 'exit')
  rmSync(data, { recursive: true, force: true })
}

async function takePictures() {
  const { url, authToken } = JSON.parse(readFileSync(join(data, 'dev.json'), 'utf8'))
  const headers = { authorization: `Bearer ${authToken}` }
  const list = async (outcome) => {
    const answer = await fetch(`${url}/admin/v1/operations?outcome=${outcome}&limit=50`, {
      headers,
    })
    return (await answer.json()).items
  }
  const sponsored = (await list('included')).find(({ paymaster }) => paymaster !== null)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const page = await (
    await browser.newContext({ viewport: { width: 1280, height: 800 } })
  ).newPage()
  await page.goto(/\S+\/console\/sign-in#\S+/.exec(output)[0])
  await page.getByText('Operations').first().waitFor()
  const screens = {
    overview: 'overview?last=1 h',
    operation: `operations/${sponsored.chainId}/${sponsored.userOpHash}`,
    tanks: 'tanks',
  }
  for (const [name, path] of Object.entries(screens))
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${url}/console/${path}`)
      await page.locator('main h1, main h2').first().waitFor()
      await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined) // a stream may stay open
      await page.screenshot({
        path: join(target, `${name}-${colorScheme}.png`),
        animations: 'disabled',
      })
      console.log(`${target}/${name}-${colorScheme}.png`)
    }
  await browser.close()
}
