import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { flagOf, isSecret, type OptionName, options, variableOf } from '../../src/config/options.js'
import { allCommands } from './commandLines.js'

/*
 * Tables of pages that come from declarations: commands and options.
 */
const REMEDY = 'PURSER_WRITE_DOCS=1 npx vitest run test/docs/generated.test.ts'

/** Holds `table` to stand between the markers `<!-- NAME … -->` and `<!-- /NAME -->` of a page. */
function expectInPage(page: string, name: string, table: string): void {
  const text = readFileSync(page, 'utf8')
  const begin = text.indexOf('-->', text.indexOf(`<!-- ${name}:`)) + '-->'.length
  const end = text.indexOf(`<!-- /${name} -->`)
  expect(end, `${page} has no place for ${name}`).toBeGreaterThan(begin)
  const written = `${text.slice(0, begin)}\n\n${table}\n\n${text.slice(end)}`
  if (process.env.PURSER_WRITE_DOCS !== undefined) writeFileSync(page, written)
  expect(readFileSync(page, 'utf8'), REMEDY).toBe(written)
}

const cell = (text: string) => text.replaceAll('|', '\\|')

function defaultOf(name: OptionName): string {
  const parsed = options[name].schema.safeParse(undefined)
  const value = parsed.success ? parsed.data : undefined
  if (value === undefined) return '–'
  if (Array.isArray(value)) return value.join(',') || 'none'
  return typeof value === 'object' ? 'none' : String(value)
}

test('operate/configuration.md has every option', () => {
  const rows = (Object.keys(options) as OptionName[]).map((name) => {
    const variable = `\`${variableOf(name)}\`${isSecret(name) ? ' †' : ''}`
    const cells = [
      `\`${name}\``,
      `\`${flagOf(name)}\``,
      variable,
      defaultOf(name),
      options[name].help,
    ]
    return `| ${cells.map(cell).join(' | ')} |`
  })
  const head = ['| file key | flag | variable | default | meaning |', '|---|---|---|---|---|']
  expectInPage('docs/operate/configuration.md', 'options', [...head, ...rows].join('\n'))
})

/** The rows of a command and of those below it. Flags of options are in the table of options. */
function rowsOf(command: Command, path: string): readonly string[] {
  return command.commands.flatMap((each) => {
    const name = `${path} ${each.name()}`
    if (each.commands.length > 0) return rowsOf(each, name)
    const words = each.usage().replace(/^\[options\] ?/, '')
    const flags = each.options
      .filter(({ description }) => !/\[PURSER_/.test(description))
      .map(({ flags, description }) => `\`${flags}\`: ${description}`)
    const cells = [`\`${`${name} ${words}`.trim()}\``, each.description(), flags.join('<br>')]
    return [`| ${cells.map(cell).join(' | ')} |`]
  })
}

test('operate/commands.md has every command with its flags', async () => {
  const program = await allCommands()
  const chapters = program.commands
    .filter((each) => each.name() !== 'demo')
    .map((each) => {
      const rows = each.commands.length > 0 ? rowsOf(each, each.name()) : rowsOf(only(each), '')
      const head = ['| command | does | flags |', '|---|---|---|']
      return [`## ${each.name()}`, '', sentence(each), '', ...head, ...rows].join('\n')
    })
  expect(chapters.length).toBeGreaterThan(20)
  expectInPage('docs/operate/commands.md', 'commands', chapters.join('\n\n'))
})

function only(command: Command): Command {
  return { commands: [command] } as unknown as Command
}

function sentence(command: Command): string {
  const text = command.description()
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
