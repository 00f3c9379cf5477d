#!/usr/bin/env node
import { Command } from 'commander'
import { buildVersion } from './base/version.js'
import { addCommands } from './cli/addCommands.js'

const program = new Command('purser')
  .description('Self-hosted ERC-4337 bundler, gas-sponsoring paymaster and approval webhooks')
  .version(buildVersion)
  // A value that looks like a flag of ours, such as a name, belongs to the command.
  .enablePositionalOptions()

program
  .command('demo')
  .description('send three operations through a running purser dev and show what happens to them')
  .option('--data <dir>', 'its data folder [PURSER_DATA, default .purser]')
  .action(async ({ data }: { data?: string }) => {
    const { demo } = await import('./demo.js')
    await demo(data ?? process.env.PURSER_DATA ?? '.purser')
  })

try {
  await addCommands(program, process.argv.slice(2))
  await program.parseAsync()
} catch (error) {
  const { explainFailure } = await import('./cli/explainFailure.js')
  console.error(explainFailure(error))
  process.exitCode = 1
}
