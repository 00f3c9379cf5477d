import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { isSecret, type OptionName, options } from '../../src/config/options.js'
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
    const key = `\`${name}\`${isSecret(name) ? ' †' : ''}`
    return `| ${[key, defaultOf(name), options[name].help].map(cell).join(' | ')} |`
  })
  const head = ['| option | default | meaning |', '|---|---|---|']
  expectInPage('docs/operate/configuration.md', 'options', [...head, ...rows].join('\n'))
})

/** The flags of a command, optional ones in brackets. The page explains `--json` and the options of the configuration once. */
function flagsOf(command: Command): readonly string[] {
  const flags = command.options.filter(
    ({ description, long }) => !/\[PURSER_/.test(description) && long !== '--json',
  )
  const namesOf = (mandatory: boolean) =>
    flags.filter((each) => each.mandatory === mandatory).map(({ long, flags }) => long ?? flags)
  const optional = namesOf(false).join(' ')
  return [...namesOf(true), ...(optional === '' ? [] : [`[${optional}]`])]
}

function leavesOf(command: Command, path: string): readonly (readonly [string, Command])[] {
  const name = `${path} ${command.name()}`.trim()
  if (command.commands.length === 0) return [[name, command]]
  return command.commands.flatMap((each) => leavesOf(each, name))
}

type Named = readonly [name: string, command: Command]

function commandList(commands: readonly Named[]): string[] {
  const lines = commands.map(([name, command]) => {
    const words = command.usage().replace(/^\[options\] ?/, '')
    const usage = [name, words, ...flagsOf(command)].filter((part) => part !== '').join(' ')
    return `- \`${usage}\`: ${command.description()}`
  })
  return [...lines, '']
}

test('operate/commands.md has every command with its flags', async () => {
  const program = await allCommands()
  const commands = program.commands.filter((each) => each.name() !== 'demo')
  const groups = commands
    .filter((each) => each.commands.length > 0)
    .map((group) => ({ group, leaves: leavesOf(group, '') }))
  const single = commands.filter((each) => each.commands.length === 0)
  expect(groups.length).toBeGreaterThan(15)
  const singles = single.flatMap((each) => leavesOf(each, ''))
  const chapters = groups.flatMap(({ group, leaves }) => [
    `## ${group.name()}`,
    '',
    sentence(group),
    '',
    ...commandList(leaves),
  ])
  const lines = ['## Service', '', ...commandList(singles), ...chapters]
  expectInPage('docs/operate/commands.md', 'commands', lines.join('\n').trim())
})

function sentence(command: Command): string {
  const text = command.description()
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
