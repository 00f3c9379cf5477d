import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { methodNames, methods } from './methods/methodList.js'

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

test('api.md documents every method with its parameters', () => {
  // Methods with the same parameters may share a row.
  const documented = rowsOf('build/api.md', '## Methods').flatMap(([names = '', params]) =>
    names.split(', ').map((name) => `${name} ${params}`),
  )
  const served = methodNames.map(
    (name) =>
      `\`${name}\` \`[${methods[name].inputs.map((input) => input.name + (input.isOptional ? '?' : '')).join(', ')}]\``,
  )
  expect(documented.sort()).toEqual(served.sort())
})
