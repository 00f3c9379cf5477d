#!/usr/bin/env node
import { Command } from 'commander'
import { registerAccountCommands } from './cli/accountCommands.js'
import { registerAuditCommands } from './cli/auditCommands.js'
import { registerDecisionCommands } from './cli/decisionCommands.js'
import { registerDev } from './cli/dev.js'
import { registerEventCommands } from './cli/eventCommands.js'
import { explainFailure } from './cli/explainFailure.js'
import { registerMigrate } from './cli/migrate.js'
import { registerOperationCommands } from './cli/operationCommands.js'
import { registerServe } from './cli/serve.js'
import { registerTankCommands } from './cli/tankCommands.js'
import { registerTokenCommands } from './cli/tokenCommands.js'
import { registerWebhookCommands } from './cli/webhookCommands.js'
import { version } from './version.js'

const program = new Command('purser')
  .description('Self-hosted ERC-4337 bundler, gas-sponsoring paymaster and approval webhooks')
  .version(version)
  // A value that looks like a flag of ours, such as a name, belongs to the command.
  .enablePositionalOptions()

registerDev(program)
registerServe(program)
registerAccountCommands(program)
registerTankCommands(program)
registerTokenCommands(program)
registerOperationCommands(program)
registerWebhookCommands(program)
registerDecisionCommands(program)
registerEventCommands(program)
registerAuditCommands(program)
registerMigrate(program)

try {
  await program.parseAsync()
} catch (error) {
  console.error(explainFailure(error))
  process.exitCode = 1
}
