import type { Config } from '../../config/options.js'

/**
 * The settings of one process of a group. Limits that hold for a process are divided, so that the group lets
 * through no more than one process would; 0 = no limit stays that. Threads are divided too.
 */
export function shareOfGroup(config: Config, cores: number): Config {
  const { processes, keyRate, ipRate, senderRate, simulationsPerKey, simulations } = config
  const workers = Math.max(1, Math.floor((cores - 1) / processes))
  return {
    ...config,
    keyRate: keyRate / processes,
    ipRate: ipRate / processes,
    senderRate: senderRate / processes,
    simulationsPerKey: Math.ceil(simulationsPerKey / processes),
    simulations: Math.ceil(simulations / processes),
    simulationWorkers: config.simulationWorkers ?? workers,
  }
}
