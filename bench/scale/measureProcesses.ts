import { openLoadChain } from '../load/loadChain.js'
import { parseLoadOptions } from '../load/loadOptions.js'
import type { LoadFigures } from '../load/measureLoad.js'
import { serviceOn } from '../load/ownService.js'
import { runLoad } from '../load/runLoad.js'

/** The median of so many runs, after the creation of the accounts: the first one compiles most of the code. */
const RUNS = 3

/** The load of `bench:load` on a service of so many processes. */
export async function measureProcesses(
  processes: number,
  operations: number,
): Promise<LoadFigures> {
  const options = parseLoadOptions([
    ...['--version', '0.7', '--chain', 'slow', '--runs', String(RUNS)],
    ...['--operations', String(operations), '--processes', String(processes)],
  ])
  const chain = await openLoadChain(undefined, options.chain)
  try {
    const service = await serviceOn(chain, options)
    try {
      const watched = { service: () => service.pids.service, database: () => service.pids.database }
      const { url, countWork } = service
      return await runLoad(chain, { url, watched, countWork }, options)
    } finally {
      await service.close()
    }
  } finally {
    await chain.stop()
  }
}
