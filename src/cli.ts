#!/usr/bin/env node
import { Command } from 'commander'
import { version } from './base/version.js'
import { addCommands } from './cli/addCommands.js'

const program = new Command('purser')
  .description('Self-hosted ERC-4337 bundler, gas-sponsoring paymaster and approval webhooks')
  .version(version)
  // A value that looks like a flag of ours, such as a name, belongs to the command.
  .enablePositionalOptions()

try {
  await addCommands(program, process.argv.slice(2))
  await program.parseAsync()
} catch (error) {
  const { explainFailure } = await import('./cli/explainFailure.js')
  console.error(explainFailure(error))
  process.exitCode = 1
}
