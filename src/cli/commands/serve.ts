import type { Command } from 'commander'
import { createLogger } from '../createLogger.js'
import { configOf, edgeOptions, withOptions } from '../optionFlags.js'
import { runService, serveUntil, untilAskedToStop } from '../runService.js'

/** `purser serve` */
export function defineServeCommand(command: Command): void {
  withOptions(command, [
    ...(['data', 'port', 'host', 'databaseUrl', 'masterKey', 'logLevel', 'chains'] as const),
    ...(['embeddedChain', 'blockTime', 'webhookAllow'] as const),
    ...(['role', 'leaseSeconds', 'drainSeconds', 'debugMethods'] as const),
    ...(['minSponsorshipSeconds', 'maxSponsorshipSeconds'] as const),
    ...edgeOptions,
    ...(['nativePrices', 'decisionRetentionDays'] as const),
  ])
  command.action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    const logger = createLogger(config.logLevel)
    const asked = untilAskedToStop()
    const service = await runService(config, config.embeddedChain, logger)
    await serveUntil(asked, service, logger, () => {
      const { server, devChain } = service
      console.log(`Purser is ready at ${server.url}`)
      if (devChain)
        console.log(`Development chain ${devChain.definition.chainId} at ${devChain.rpcUrl}`)
    })
  })
}
