import { expect } from 'vitest'
import { runCli } from './startPurser.js'

/** The rows of a list that a command printed, by column name. */
export function rowsOf(stdout: string): Record<string, string>[] {
  const [header = '', ...lines] = stdout.trimEnd().split('\n')
  const columns = [...header.matchAll(/\S+/g)].map((match) => ({ name: match[0], at: match.index }))
  return lines.map((line) =>
    Object.fromEntries(
      columns.map(({ name, at }, index) => [name, line.slice(at, columns[index + 1]?.at).trim()]),
    ),
  )
}

/** What stands behind `label` in a command's answer. */
export function labelled(stdout: string, label: string): string {
  const found = new RegExp(`^${label} +(.+)$`, 'm').exec(stdout)?.[1]
  if (found === undefined) throw new Error(`No ${label} in:\n${stdout}`)
  return found
}

/** Fails unless `text` is one sentence for people. */
export function expectOneSentence(text: string): string {
  const lines = text.trim().split('\n')
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toMatch(/^\s+at |Purser stopped|undefined/)
  return lines[0] ?? ''
}

type Environment = Readonly<Record<string, string>>

/**
 * Commands on one data folder; extra settings come by the environment.
 * @param cli the program, that of this checkout by default
 */
export function commandsOn(dataFolder: string, environment: Environment = {}, cli?: string) {
  const run = (...args: string[]) => runCli([...args, '--data', dataFolder], environment, cli)

  /** What a command answers that must work. */
  const answer = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    return stdout
  }

  /** The one sentence of a command that must be refused. */
  const refusal = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args)
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
    return expectOneSentence(stderr)
  }

  /** An account with an app and a key, made by the commands. */
  const tenant = async (name: string) => {
    const account = await answer('account', 'create', '--name', name)
    const accountId = labelled(account, 'account')
    const appId = labelled(
      await answer('app', 'create', '--account', accountId, '--name', name),
      'app',
    )
    const key = await answer('key', 'create', '--app', appId, '--name', name)
    return {
      accountId,
      authToken: labelled(account, 'authToken'),
      appId,
      keyId: labelled(key, 'key'),
      apiKey: labelled(key, 'apiKey'),
    }
  }

  return { run, answer, refusal, tenant }
}
