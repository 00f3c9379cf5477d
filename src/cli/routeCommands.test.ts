import { Command } from 'commander'
import { beforeAll, describe, expect, test } from 'vitest'
import { contracts } from '../api/contracts/contracts.js'
import { addCommands } from './addCommands.js'

/* Of all contracts that name a command: one that is declared is covered. */

const commanded = Object.entries(contracts).flatMap(([subject, group]) =>
  Object.entries(group).flatMap(([route, contract]) =>
    'command' in contract ? [{ route, contract, subject }] : [],
  ),
)

/** Whether a subject's commands are those of the group: `webhookCall` of `webhook`, `authToken` of `auth-token`. */
function isOf(subject: string, group: string): boolean {
  return subject.toLowerCase().startsWith(group.replace('-', ''))
}

let all: readonly { readonly group: string; readonly command: Command }[]
beforeAll(async () => {
  const names = new Command()
  await addCommands(names, [])
  const made = []
  const groups = names.commands.map((each) => each.name())
  for (const group of groups.filter((each) =>
    commanded.some(({ subject }) => isOf(subject, each)),
  )) {
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

describe.each(commanded)('$route', ({ route, contract, subject }) => {
  test('has its command once, which answers in JSON for programs and names all that it needs', () => {
    const found = all.filter(
      ({ group, command }) =>
        isOf(subject, group) &&
        command.name() === contract.command &&
        command.description() === decapitalized(contract.summary),
    )
    expect(found).toHaveLength(1)
    const { group, command } = found[0]!
    const flags = command.options.map(({ long }) => long)
    expect(flags).toContain('--json')
    const params = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const named = [
      ...command.registeredArguments.map((argument) => argument.required),
      ...command.options.filter(({ long }) => long === '--app' || long === '--chain'),
    ]
    expect(named.length, `${group} ${command.name()}`).toBeGreaterThanOrEqual(params.length)
    if ('query' in contract && 'before' in contract.query.shape) expect(flags).toContain('--after')
    if (contract.who === 'account' && !route.includes('{appId}'))
      expect(flags).toContain('--account')
  })
})
