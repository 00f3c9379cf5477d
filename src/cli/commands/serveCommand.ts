import type { Command } from 'commander'
import { configOf, serviceOptions, withOptions } from '../optionFlags.js'
import { serve } from '../serve.js'

/** `purser serve` */
export function defineServeCommand(command: Command): void {
  withOptions(command, [...serviceOptions, 'embeddedChain', 'role', 'leaseSeconds', 'drainSeconds'])
  command.action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    await serve(config, config.embeddedChain, ({ server, devChain }) => {
      console.log(`Purser is ready at ${server.url}`)
      for (const reason of server.awayChains.values())
        console.error(`${reason} The other chains are served, and this one is tried again.`)
      if (devChain)
        console.log(`Development chain ${devChain.definition.chainId} at ${devChain.rpcUrl}`)
    })
  })
}
