import type { Command } from 'commander'
import { createLogger } from './createLogger.js'
import { configOf, withOptions } from './optionFlags.js'
import { runService, untilAskedToStop } from './runService.js'

export const registerServe = (program: Command): void => {
  const command = program
    .command('serve')
    .description('run the service for the chains of the configuration')
  withOptions(command, [
    ...(['data', 'port', 'host', 'databaseUrl', 'masterKey', 'logLevel', 'chains'] as const),
    ...(['embeddedChain', 'blockTime', 'webhookAllow'] as const),
    ...(['minSponsorshipSeconds', 'maxSponsorshipSeconds'] as const),
  ])
  command.action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    const logger = createLogger(config.logLevel)
    const asked = untilAskedToStop()
    const service = await runService(config, config.embeddedChain, logger)
    console.log(`Purser is ready at ${service.server.url}`)
    try {
      const signal = await Promise.race([asked, service.replaced])
      logger.info({ signal }, 'stopping')
    } finally {
      await service.close()
    }
  })
}
