import { Command } from 'commander'
import { addCommands } from '../../src/cli/addCommands.js'

/** Every command with its subcommands and flags, as the command line has them. */
export async function allCommands(): Promise<Command> {
  const names = new Command('purser')
  await addCommands(names, [])
  const all = new Command('purser').command('demo').option('--data <dir>').parent as Command
  for (const name of names.commands.map((command) => command.name())) {
    const one = new Command('purser')
    await addCommands(one, [name])
    const defined = one.commands.find((command) => command.name() === name)
    if (defined) all.addCommand(defined)
  }
  return all
}

/** The command lines in text: in shell code each `purser …`, with lines that go on joined. */
export function commandLinesIn(shell: string): readonly string[] {
  const joined = shell
    .replaceAll(/\\\n\s*/g, ' ')
    .replaceAll(/(^|\s)#.*$/gm, '')
    .replaceAll(/'[^'\n]*'|"[^"\n]*"/g, 'quoted')
  return [...joined.matchAll(/(?:^|[\s;&|(])purser ([^\n;&|)<>]+)/g)].map(([, words = '']) => words)
}

/** The code spans of a page that begin with `purser`; `show|deposit` stands for one each. */
export function spansIn(markdown: string): readonly string[] {
  return [...markdown.matchAll(/`(?:[A-Z_]+=\S* )*purser ([^`]+)`/g)].flatMap(([, words = '']) => {
    const [alternatives = ''] = /\S+(?:\\?\|\S+)+/.exec(words) ?? []
    if (alternatives === '') return [words]
    return alternatives.split(/\\?\|/).map((one) => words.replace(alternatives, one))
  })
}

/** What is wrong with a command line: a command or a flag that does not exist. */
export function problemsOf(line: string, program: Command): readonly string[] {
  const words = line.trim().split(/\s+/)
  if (/^[A-Z-]/.test(words[0] ?? '')) return []
  let command = program
  let depth = 0
  for (; depth < words.length; depth++) {
    const next = command.commands.find((one) => one.name() === words[depth])
    if (next === undefined) break
    command = next
  }
  if (command === program) return [`purser ${line}: there is no such command`]
  const isGroup = command.commands.length > 0
  if (isGroup && depth < words.length && !/^(-|…)/.test(words[depth] ?? ''))
    return [`purser ${line}: ${command.name()} has no ${words[depth]}`]
  const known = new Set([...command.options.map(({ long }) => long), '--help', '--version'])
  return [...line.matchAll(/(?<=^|[\s[])--[a-z][a-z-]*/g)]
    .map(([flag]) => flag)
    .filter((flag) => !known.has(flag))
    .map((flag) => `purser ${line}: there is no ${flag}`)
}
