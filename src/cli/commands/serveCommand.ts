import type { Command } from 'commander'
import { type Config, type OptionName, options } from '../../config/options.js'
import { requireShared } from '../../config/requireAgreement.js'
import { createServiceLogger } from '../createLogger.js'
import { loadedOf, withOptions } from '../optionFlags.js'
import { groupMember } from '../processes/groupMember.js'
import { superviseGroup } from '../processes/superviseGroup.js'
import { printReady, readyFacts } from '../readyFacts.js'
import { serve, untilAskedToStop } from '../serve.js'

/** `purser serve` */
export function defineServeCommand(command: Command): void {
  withOptions(command, Object.keys(options) as OptionName[])
  command.action(async (flags: Record<string, unknown>) => {
    const loaded = loadedOf(flags)
    const { config } = loaded
    const member = groupMember()
    if (member) {
      const announce = (service: Parameters<typeof readyFacts>[1]) =>
        member.sendReady(readyFacts(config, service))
      await serve(loaded, false, announce, { member }).finally(member.leave)
    } else if (config.processes > 1) {
      await serveTogether(config)
    } else {
      const announce = (service: Parameters<typeof readyFacts>[1]) =>
        printReady(readyFacts(config, service))
      await serve(loaded, config.embeddedChain, announce, { reread: () => loadedOf(flags) })
    }
  })
}

/** The parent serves nothing: it keeps the processes that do. */
async function serveTogether(config: Config) {
  requireShared(config)
  const { processes, logLevel } = config
  const { logger } = createServiceLogger(logLevel)
  if (!(await superviseGroup(processes, logger, untilAskedToStop()))) process.exitCode = 1
}
