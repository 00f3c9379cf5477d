import type { Command } from 'commander'
import { policyRoutes } from '../../paymaster/policy/managePolicies.js'
import { ConfigError } from '../../base/errors/configError.js'
import { unixNow } from '../../base/unixNow.js'
import { termsMistakes, termsSchema } from '../../paymaster/policy/policySchema.js'
import { termsWarnings } from '../../paymaster/policy/termsWarnings.js'
import type { Flags } from '../onStore.js'
import { readObjectFile, readPolicyFile } from '../readPolicyFile.js'
import { defineRoutes } from '../routeCommands.js'

function print(policy: object): void {
  console.log(JSON.stringify(policy, null, 2))
}

function check(file: string, of: string): void {
  if (of !== 'app' && of !== 'account') throw new ConfigError('--of must be app or account.')
  const { terms } = readObjectFile(file, 'The policy')
  if (terms === undefined) throw new ConfigError(`The policy: ${file} lacks "terms".`)
  const mistakes = termsMistakes(terms, { isOfApp: of === 'app' })
  if (mistakes.length > 0) {
    const shown = mistakes.slice(0, 20).map(({ path, message }) => `${path || 'terms'} ${message}`)
    const more =
      mistakes.length > shown.length ? `, and ${mistakes.length - shown.length} more` : ''
    throw new ConfigError(`The policy ${file} has mistakes: ${shown.join('; ')}${more}.`)
  }
  console.log('well-formed')
  // Of chains and other policies, which are in no file, the API's check knows.
  const around = { now: unixNow(), served: undefined, before: [], after: [] }
  for (const { path, message } of termsWarnings(termsSchema.parse(terms), around))
    console.log(`warning: ${path || 'the terms'} ${message}`)
}

/** A new policy as its file and the command line have it. */
function newPolicy(_: object, flags: Flags) {
  const input = { ...readPolicyFile(flags.file), appId: flags.app ?? null }
  for (const member of ['name', 'terms'])
    if (!Object.hasOwn(input, member))
      throw new ConfigError(`--file: ${flags.file} lacks "${member}".`)
  return input
}

/** `purser policy list|show|create|edit|delete|check` */
export function definePolicyCommand(policy: Command): void {
  policy
    .command('check')
    .argument('<file>', 'JSON or YAML with terms')
    .description('check a policy file; lists every mistake with its path')
    .option('--of <owner>', 'a policy of the app, or of the account', 'app')
    .action((path: string, { of }: { readonly of: string }) => check(path, of))
  defineRoutes(policy, policyRoutes, {
    isOfAccount: true,
    commands: {
      list: { columns: 'policyId name active position updatedAt' },
      show: { print },
      create: {
        flags: {
          '--file <path>': 'JSON or YAML with name and terms, optionally active and position',
        },
        body: newPolicy,
        print,
      },
      edit: {
        flags: { '--file <path>': 'JSON or YAML with name, active, position or terms' },
        body: (_, flags) => readPolicyFile(flags.file),
        print,
      },
    },
  })
}
