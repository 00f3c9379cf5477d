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

type Flag = { readonly flags: string; readonly long: string; readonly text: string }

/** What a command takes. `--json` and the options of the configuration are explained once, by the page. */
function flagsOf(command: Command): readonly Flag[] {
  return command.options
    .filter(({ description, long }) => !/\[PURSER_/.test(description) && long !== '--json')
    .map(({ flags, long, description }) => ({ flags, long: long ?? flags, text: description }))
}

function leavesOf(command: Command, path: string): readonly (readonly [string, Command])[] {
  const name = `${path} ${command.name()}`.trim()
  if (command.commands.length === 0) return [[name, command]]
  return command.commands.flatMap((each) => leavesOf(each, name))
}

type Named = readonly [name: string, command: Command]
const described = ({ flags, text }: Flag) => `- \`${flags}\`${text === '' ? '' : `: ${text}`}`

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return [...groups]
}

/** The uses of each flag. */
function usesOf(commands: readonly Named[]): readonly (readonly Flag[])[] {
  const all = commands.flatMap(([, command]) => flagsOf(command))
  return groupBy(all, ({ long }) => long).map(([, uses]) => uses)
}

/** Flags, as described, that mean the same in all of `commands` that take them, two at least. */
function sharedBy(commands: readonly Named[], explained: readonly string[]): readonly string[] {
  return usesOf(commands).flatMap((uses) => {
    const [text = '', ...others] = [...new Set(uses.map(described))]
    return uses.length > 1 && others.length === 0 && !explained.includes(text) ? [text] : []
  })
}

/** The one meaning of each flag that most groups share; the others are explained where they are. */
function common(groups: readonly (readonly Named[])[]): readonly string[] {
  const perGroup = groups.flatMap((commands) =>
    usesOf(commands).flatMap((uses) =>
      [...new Set(uses.map(described))].map((text) => ({ text, long: uses[0]?.long ?? '' })),
    ),
  )
  return groupBy(perGroup, ({ long }) => long).flatMap(([, uses]) => {
    const explained = uses.filter(({ text }) => text.includes(': '))
    const counted = groupBy(explained, ({ text }) => text)
    const [most] = counted.sort(([, one], [, other]) => other.length - one.length)
    return most !== undefined && most[1].length > 1 ? [most[0]] : []
  })
}

/** A table of commands. Of a flag that is explained elsewhere it has the name. */
function commandTable(commands: readonly Named[], explained: readonly string[]): string[] {
  const here = sharedBy(commands, explained)
  const rows = commands.map(([name, command]) => {
    const words = command.usage().replace(/^\[options\] ?/, '')
    const isKnown = (flag: Flag) => [...explained, ...here].includes(described(flag))
    const flags = flagsOf(command)
    const known = flags.filter(isKnown).map(({ long }) => `\`${long}\``)
    const own = flags.filter((flag) => !isKnown(flag)).map((flag) => described(flag).slice(2))
    const lines = [...(known.length > 0 ? [known.join(' ')] : []), ...own].join('<br>')
    const cells = [`\`${`${name} ${words}`.trim()}\``, command.description(), lines]
    return `| ${cells.map(cell).join(' | ')} |`
  })
  const notes = here.length === 0 ? [] : [...here, '']
  return ['| command | does | flags |', '|---|---|---|', ...rows, '', ...notes]
}

test('operate/commands.md has every command with its flags', async () => {
  const program = await allCommands()
  const commands = program.commands.filter((each) => each.name() !== 'demo')
  const groups = commands
    .filter((each) => each.commands.length > 0)
    .map((group) => ({ group, leaves: leavesOf(group, '') }))
  const single = commands.filter((each) => each.commands.length === 0)
  expect(groups.length).toBeGreaterThan(15)
  const explained = common(groups.map(({ leaves }) => leaves))
  const singles = single.flatMap((each) => leavesOf(each, ''))
  const chapters = groups.flatMap(({ group, leaves }) => [
    `## ${group.name()}`,
    '',
    sentence(group),
    '',
    ...commandTable(leaves, explained),
  ])
  const lines = [
    '## Flags of several commands',
    '',
    'Unless the group or the command explains them:',
    '',
    ...explained,
    '',
    '## Service',
    '',
    ...commandTable(singles, explained),
    ...chapters,
  ]
  expectInPage('docs/operate/commands.md', 'commands', lines.join('\n').trim())
})

function sentence(command: Command): string {
  const text = command.description()
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
