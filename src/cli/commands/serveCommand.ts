import type { Command } from 'commander'
import { type OptionName, options } from '../../config/options.js'
import { configOf, withOptions } from '../optionFlags.js'
import { serve } from '../serve.js'

/** `purser serve` */
export function defineServeCommand(command: Command): void {
  withOptions(command, Object.keys(options) as OptionName[])
  command.action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    await serve(config, config.embeddedChain, ({ server, devChain }) => {
      if (server.adminUrl !== server.url)
        console.log(`Administration is at ${config.adminUrl ?? server.adminUrl}`)
      console.log(`Purser is ready at ${config.publicUrl ?? server.url}`)
      for (const reason of server.awayChains.values())
        console.error(`${reason} The other chains are served, and this one is tried again.`)
      if (devChain)
        console.log(`Development chain ${devChain.definition.chainId} at ${devChain.rpcUrl}`)
    })
  })
}
