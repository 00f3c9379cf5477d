import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorCodes, requestCodes } from '../errors/errorCodes.js'
import { refusalCodes, tokenRefusalCodes } from '../errors/refusal.js'
import { dropCodes, historyCodes } from '../store/dropCode.js'
import { methodList } from './methods/methodList.js'

/** The cells of all tables of a section, without their heads. */
function rowsOf(page: string, heading: string): string[][] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const start = text.indexOf(`\n${heading}\n`)
  if (start < 0) throw new Error(`${page} has no section "${heading}"`)
  const [section = ''] = text.slice(start + heading.length + 2).split(/\n##? /)
  return section
    .split('\n')
    .filter((line) => /^\| [`-]\S/.test(line))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
}

/** The texts in back quotes. */
function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

test('api.md documents every method with its parameters', () => {
  const documented = rowsOf('api.md', '## Methods').map(([name, params]) => `${name} ${params}`)
  const served = methodList.map(({ name, params }) => `\`${name}\` \`[${params.join(', ')}]\``)
  expect(documented.sort()).toEqual(served.sort())
})

test('api.md documents every error code once', () => {
  const documented = rowsOf('api.md', '## Errors').map(([code = '']) => code.replaceAll('`', ''))
  expect(documented.sort()).toEqual(Object.keys(errorCodes).sort())
})

test('api.md documents every code with which an operation is dropped, and of its history', () => {
  const documented = rowsOf('api.md', '## Dropped operations').flatMap(([codes]) => codesIn(codes))
  const families = ['AAxx', ...['OP', 'STO', 'COD', 'AUTH', 'EREP', 'GREP', 'LIM'].map(ruleFamily)]
  const codes = [...families, ...Object.keys(dropCodes), ...Object.keys(historyCodes)]
  expect(documented.sort()).toEqual(codes.sort())
})

function ruleFamily(rule: string): string {
  return `${rule}-…`
}

test('api.md documents every code of a refused request', () => {
  const documented = rowsOf('api.md', '## Refused requests').flatMap(([codes]) => codesIn(codes))
  expect(documented.filter((code) => !code.includes('.')).sort()).toEqual(
    Object.keys(requestCodes).sort(),
  )
})

test('api.md documents every refusal of a payment in tokens', () => {
  const documented = rowsOf('api.md', '## Gas in tokens').flatMap(([, codes]) => codesIn(codes))
  const others = ['PRICE_STALE', 'NONCE_USED', 'TOO_MUCH_UNSENT']
  expect(documented.sort()).toEqual([...others, ...Object.keys(tokenRefusalCodes)].sort())
})

test('sponsorship.md documents every refusal of a sponsorship', () => {
  const documented = rowsOf('sponsorship.md', '## Codes').flatMap(([codes]) => codesIn(codes))
  expect(documented.sort()).toEqual(['ESTIMATION_FAILED', ...Object.keys(refusalCodes)].sort())
})
