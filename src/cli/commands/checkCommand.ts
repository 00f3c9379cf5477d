import type { Command } from 'commander'
import { ConfigError } from '../../base/errors/configError.js'
import { type OptionName, options } from '../../config/options.js'
import { printFindings } from '../check/finding.js'
import { runChecks } from '../check/runChecks.js'
import { createLogger } from '../createLogger.js'
import { warnOfSecrets, withOptions } from '../optionFlags.js'

/** `purser check`: exit code 1 when there is a fault. */
export function defineCheckCommand(command: Command): void {
  withOptions(command, Object.keys(options) as OptionName[])
    .option('--chain <id>', 'check this chain only')
    .option('--json', 'print findings as JSON')
  command.action(async (flags: Record<string, unknown>) => {
    const { config: file, chain, json } = flags
    if (file !== undefined && typeof file !== 'string')
      throw new ConfigError('--config takes one file.')
    warnOfSecrets(flags)
    const findings = await runChecks({
      sources: { flags, environment: process.env, file },
      only: chain === undefined ? undefined : chainOf(chain),
      logger: createLogger('silent'),
    })
    printFindings(findings, json === true)
  })
}

function chainOf(text: unknown): number {
  if (typeof text !== 'string' || !/^[1-9]\d{0,15}$/.test(text))
    throw new ConfigError('--chain must be a chain id.')
  return Number(text)
}
