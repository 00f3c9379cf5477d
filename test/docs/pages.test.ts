import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ZodType } from 'zod'
import { chainEntry } from '../../src/config/chainPresets.js'
import { keySchema, ruleExceptionSchema } from '../../src/chain/definition/chainDefinition.js'
import { tokenSchema } from '../../src/chain/definition/tokenDefinition.js'
import { termsSchema } from '../../src/paymaster/policy/policySchema.js'
import { allCommands, commandLinesIn, problemsOf, spansIn } from './commandLines.js'
import { type Block, blocksOf, pages } from './pages.js'
import { ways } from './ways.js'

/*
 * The short form of the walk: what can be known of every snippet without running it. `npm run test:docs` runs them.
 */

const blocks = pages.flatMap(blocksOf)
let program: Command
beforeAll(async () => {
  program = await allCommands()
})

const place = ({ page, line }: Block) => `${page}:${line}`

/** What a block of that name must be valid for. */
const schemas: Readonly<Record<string, (value: { chains?: unknown[] }) => unknown>> = {
  chains: ({ chains = [] }) => chains.map((chain) => chainEntry.parse(chain)),
  token: (value) => parse(tokenSchema, value),
  key: (value) => parse(keySchema, value),
  terms: (value) => parse(termsSchema, value),
  exception: (value) => parse(ruleExceptionSchema, value),
}
function parse(schema: ZodType, value: unknown): unknown {
  return schema.parse(value)
}

/** Examples shorten addresses. */
function withWholeAddresses(text: string): string {
  return text.replaceAll(/0x([0-9a-f]*)…/g, (_, start: string) => `0x${start.padEnd(40, '0')}`)
}

describe('every snippet of the README and the docs', () => {
  test('is run by the walk, or says why not', () => {
    const unknown = blocks.filter(({ language, way }) => {
      if (language === 'mermaid') return false
      if (language === 'sh') return !['run', 'terminal', 'needs', 'no'].includes(way.kind)
      return !['file', 'schema', 'no'].includes(way.kind)
    })
    expect(unknown.map(place)).toEqual([])
    expect(blocks.filter(({ way }) => way.kind === 'run').length).toBeGreaterThan(8)
  })

  test('has its way in ways.ts, which names no block that is gone', () => {
    const gone = Object.entries(ways).flatMap(([page, texts]) =>
      Object.keys(texts).filter(
        (part) => !blocks.some(({ page: at, text }) => at === page && text.includes(part)),
      ),
    )
    expect(gone).toEqual([])
    expect(pages.filter((page) => readFileSync(page, 'utf8').includes('<!-- walk'))).toEqual([])
  })

  test('calls commands and flags that exist, in shell code and in the text', () => {
    const inCode = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => commandLinesIn(text))
    const inText = pages.flatMap((page) => spansIn(readFileSync(page, 'utf8')))
    expect(inCode.length).toBeGreaterThan(15)
    expect(inText.length).toBeGreaterThan(30)
    expect([...inCode, ...inText].flatMap((line) => problemsOf(line, program))).toEqual([])
  })

  test('that shows configuration or a policy is valid', () => {
    const shown = blocks.flatMap(({ way, text }) => (way.kind === 'schema' ? [{ way, text }] : []))
    expect(shown.length).toBeGreaterThan(2)
    for (const { way, text } of shown)
      expect(
        () => schemas[way.name]?.(JSON.parse(withWholeAddresses(text))),
        way.name,
      ).not.toThrow()
    expect(shown.filter(({ way }) => schemas[way.name] === undefined)).toEqual([])
  })

  test('in shell code is code that a shell understands', () => {
    for (const { language, text } of blocks)
      if (language === 'sh') execFileSync('bash', ['-n'], { input: text })
  })
})

test('the check of commands finds what it is for', () => {
  const wrong = ['tnak show', 'tank shwo --app ID', 'key create --ap ID', 'serve --porst 1']
  expect(wrong.flatMap((line) => problemsOf(line, program))).toHaveLength(4)
  expect(problemsOf('tank show --app ID', program)).toEqual([])
})

test('no sentence lets npx fetch the package that has our name on npm today', () => {
  const folders = ['src', 'docs', 'contracts', 'scripts']
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  )
  const fetching =
    /\b(npx(?! --yes --package \.\/purser-)|bunx|pnpx|dlx|npm (?:exec|x))\b[^\n]{0,40}\bpurser\b|\b(install|add|i) (-\S+ )*purser\b/
  const found = [...files, 'README.md', 'CONTRIBUTING.md', 'package.json'].filter((file) =>
    fetching.test(readFileSync(file, 'utf8')),
  )
  expect(found).toEqual([])
})
