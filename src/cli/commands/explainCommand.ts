import type { Command } from 'commander'
import { ConfigError } from '../../base/errors/configError.js'
import { type Explanation, explain } from '../../base/errors/explain.js'

const whose = {
  user: "the account's owner",
  app: "the app's developer",
  operator: 'the operator of this service',
  chain: 'nobody: it is the chain',
} as const

/** What a code means for a person, in lines, and what to do. */
export function explanationLines({ code, meaning, culprit, steps, docs }: Explanation): string[] {
  return [
    `${code}: ${meaning}`,
    `Who can fix it: ${whose[culprit]}.`,
    ...steps.map((step) => `- ${step}`),
    `More: docs/${docs}`,
  ]
}

/** `purser explain <code>` */
export function defineExplainCommand(command: Command): void {
  command.argument('<code>').action((code: string) => {
    const known = explain(code.toUpperCase())
    if (known === undefined)
      throw new ConfigError(
        `${code} is no code of Purser, of an EntryPoint or of ERC-7562; docs/build/errors.md lists them.`,
      )
    for (const line of explanationLines(known)) console.log(line)
  })
}
