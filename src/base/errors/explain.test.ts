import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { type CatalogueRow, ruleFamilies } from './catalogue.js'
import { catalogue, explain, explainError, explainedCodes } from './explain.js'

const require = createRequire(import.meta.url)

/** The codes in the texts with which an EntryPoint reverts. */
function codesOf(version: string): string[] {
  const path = require.resolve(`account-abstraction-v0${version}/artifacts/EntryPoint.json`)
  const { bytecode } = JSON.parse(readFileSync(path, 'utf8')) as { readonly bytecode: string }
  const text = Buffer.from(bytecode.slice(2), 'hex').toString('latin1')
  return [...new Set(text.match(/AA\d\d(?= )/g))]
}

test.each(['6', '7', '8', '9-rc'])('every code of EntryPoint v0.%s is explained', (version) => {
  const codes = codesOf(version)
  expect(codes.length).toBeGreaterThan(15)
  for (const code of codes) expect(explain(code), code).toBeDefined()
})

test('every explanation says what to do', () => {
  expect(explainedCodes.length).toBeGreaterThan(90)
  for (const code of [...explainedCodes, 'OP-011', 'STO-021', 'UREP-010', 'LIM-060']) {
    const { meaning = '', steps = [], docs = '' } = explain(code) ?? {}
    expect(meaning, code).toMatch(/^\w.*\.$/)
    expect(steps.length, code).toBeGreaterThan(0)
    for (const step of steps) expect(step, code).toMatch(/^[A-Z].*\.$/)
    expect(readFileSync(new URL(`../../../docs/${docs}`, import.meta.url), 'utf8')).not.toBe('')
  }
})

test('a text that is no code has no explanation', () => {
  for (const text of ['', 'AA', 'AA00', 'OP-1', 'XX-011', 'constructor', '__proto__', '-1'])
    expect(explain(text), text).toBeUndefined()
})

test('an error is explained by its rule, and without one by its JSON-RPC code', () => {
  expect(explainError({ rule: 'AA25', code: -32_500 })?.code).toBe('AA25')
  expect(explainError({ rule: 'made up', code: -32_500 })?.code).toBe('-32500')
  expect(explainError({ rule: null, code: -32_602 })?.code).toBe('-32602')
})

const page = new URL('../../../docs/build/errors.md', import.meta.url)
/** A step that the page says once, above the lists. */
const IN_MESSAGE = 'The message has the reason.'
const GENERATED = '<!-- Generated from src/base/errors/catalogue.ts. -->'

/** Who can fix a code where it is not the developer of the app. */
const others: Readonly<Record<CatalogueRow['culprit'], string>> = {
  user: ' (account)',
  app: '',
  operator: ' (operator)',
  chain: ' (chain)',
}

function chapter(title: string, rows: Readonly<Record<string, CatalogueRow>>): string {
  const lines = Object.entries(rows).map(([code, { meaning, culprit, steps }]) => {
    const fix = steps.filter((step) => step !== IN_MESSAGE).join(' ')
    return `- \`${code}\`${others[culprit]}: ${meaning}${fix && ` _${fix}_`}`
  })
  return [`## ${title}`, '', ...lines, ''].join('\n')
}

test('docs/build/errors.md has every code with its meaning and what to do', () => {
  const [intro = ''] = readFileSync(page, 'utf8').split(`${GENERATED}\n`)
  const families = Object.entries(ruleFamilies).map(([family, row]) => [`${family}-…`, row])
  const chapters = [
    ...catalogue.map(({ title, rows }) => chapter(title, rows)),
    chapter('Rules of ERC-7562', Object.fromEntries(families)),
  ]
  const text = `${intro}${GENERATED}\n\n${chapters.join('\n')}`
  if (process.env.PURSER_WRITE_DOCS !== undefined) writeFileSync(page, text)
  expect(readFileSync(page, 'utf8'), 'PURSER_WRITE_DOCS=1 npx vitest run src/base/errors').toBe(
    text,
  )
})
