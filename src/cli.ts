#!/usr/bin/env node
import { Command } from 'commander'
import { registerAccountCommands } from './cli/accountCommands.js'
import { registerDev } from './cli/dev.js'
import { registerMigrate } from './cli/migrate.js'
import { registerServe } from './cli/serve.js'
import { registerTankCommands } from './cli/tankCommands.js'
import { ConfigError } from './errors/configError.js'
import { PurserError } from './errors/purserError.js'
import { version } from './version.js'

const program = new Command('purser')
  .description('Self-hosted ERC-4337 bundler, gas-sponsoring paymaster and approval webhooks')
  .version(version)
  .showHelpAfterError()

registerDev(program)
registerServe(program)
registerAccountCommands(program)
registerTankCommands(program)
registerMigrate(program)

try {
  await program.parseAsync()
} catch (error) {
  const known = error instanceof ConfigError || error instanceof PurserError
  const message = error instanceof Error ? error.message : String(error)
  console.error(known ? message : `Purser stopped: ${message.split('\n')[0]}`)
  process.exitCode = 1
}
