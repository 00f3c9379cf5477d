import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/* docs/operate/security.md says nothing of an attack that no test carries, and each attack that a test makes is on it. */

const page = readFileSync('docs/operate/security.md', 'utf8')
const [, attacks = ''] = /## Attacks\n(.*)## What remains/s.exec(page) ?? []
const claims = [...attacks.matchAll(/^- .* \(([^()]*)\)$/gm)].map(([line, tests = '']) => ({
  line,
  tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
}))

const fileOf = (name: string): string =>
  `${name.includes('/') ? '' : 'test/attacks/'}${name}.test.ts`

test('every attack on the page has a test', () => {
  const lines = attacks.split('\n').filter((line) => line.startsWith('- '))
  expect(lines.length).toBeGreaterThan(40)
  expect(claims.map(({ line }) => line).sort()).toEqual(lines.sort())
  for (const { line, tests } of claims) {
    expect(tests, line).not.toEqual([])
    for (const name of tests) expect(existsSync(fileOf(name)), `${name}: ${line}`).toBe(true)
  }
})

test('every attack of a test is on the page', () => {
  const shown = new Set(claims.flatMap(({ tests }) => tests.map(fileOf)))
  const made = readdirSync('test/attacks').filter((name) => name !== 'adversary.test.ts')
  expect(made.filter((name) => !shown.has(`test/attacks/${name}`))).toEqual([])
})
