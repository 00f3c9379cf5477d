import { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../api/admin/routeTable.js'
import { addCommands } from './addCommands.js'

/* Of all routes that name a command: one that is declared is covered. */

const commanded = routes.filter(({ command }) => command !== undefined)

let all: readonly { readonly group: string; readonly command: Command }[]
beforeAll(async () => {
  const names = new Command()
  await addCommands(names, [])
  const made = []
  const groups = names.commands.map((each) => each.name())
  for (const group of groups) {
    const program = new Command()
    await addCommands(program, [group])
    const inner = program.commands.find((each) => each.name() === group)?.commands ?? []
    made.push(...inner.map((command) => ({ group, command })))
  }
  all = made
})

function decapitalized(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

test('many resources have commands, and no two commands of a group have one name', () => {
  expect(commanded.length).toBeGreaterThan(30)
  const names = all.map(({ group, command }) => `${group} ${command.name()}`)
  expect(names).toEqual([...new Set(names)])
})

describe.each(commanded)('$method $path', ({ command: name, summary, path, query, who }) => {
  test('has its command once, which answers in JSON for programs and names all that it needs', () => {
    const found = all.filter(
      ({ command }) => command.name() === name && command.description() === decapitalized(summary),
    )
    const alike = commanded.filter((each) => each.command === name && each.summary === summary)
    expect(found).toHaveLength(alike.length)
    for (const { group, command } of found) {
      const flags = command.options.map(({ long }) => long)
      expect(flags).toContain('--json')
      const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
      const named = [
        ...command.registeredArguments.map((argument) => argument.required),
        ...command.options.filter(({ long }) => long === '--app' || long === '--chain'),
      ]
      expect(named.length, `${group} ${command.name()}`).toBeGreaterThanOrEqual(params.length)
      if (query !== undefined && 'before' in query.shape) expect(flags).toContain('--after')
      if (who === 'account' && !path.includes('{appId}')) expect(flags).toContain('--account')
    }
  })
})
