import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = 'dist/console'
const KB = 1_000
const sizeOf = (name: string) => readFileSync(join(folder, `${name}.br`)).length

test('the first view is at most 90 kB compressed, all of it 250 kB', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const named = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(
    ([, name = '']) => name,
  )
  const assets = readdirSync(join(folder, 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
  const screens = assets.filter((name) => /^(Start|Operations|changes)-/.test(name))
  expect(named.length).toBeGreaterThanOrEqual(3)
  expect(screens.length).toBeGreaterThanOrEqual(2)
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + sizeOf(name), 0)
  // Whichever screen is first: all of them.
  expect(sum([...named, ...screens.map((name) => `assets/${name}`)])).toBeLessThanOrEqual(90 * KB)
  expect(sum(assets.map((name) => `assets/${name}`))).toBeLessThanOrEqual(250 * KB)
})

test('the notices name what is shipped', () => {
  const notices = readFileSync(join(folder, 'notices.md'), 'utf8')
  for (const name of ['preact', '@preact/signals', '@preact/signals-core'])
    expect(notices).toContain(name)
  expect(notices).not.toMatch(/GPL|\bMPL\b/)
})
