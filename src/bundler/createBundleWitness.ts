import type { Logger } from 'pino'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { WitnessRecorder } from '../mempool/witnesses.js'
import type { MinedBundle } from './minedBundle.js'

type BundleWitnessContext = {
  readonly witnesses: Pick<WitnessRecorder, 'record'>
  readonly logger: Logger
  readonly metrics: ChainMetrics
}

export type BundleWitness = ReturnType<typeof createBundleWitness>

/** Bundles that wait at most to be run again. */
const MOST_WAITING = 100

/**
 * Records what bundles read in which something failed: each is run again in our EVM, one after the other, behind the
 * settling of its receipt.
 */
export function createBundleWitness({ metrics, witnesses, logger }: BundleWitnessContext) {
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  async function look({ receipt: { transactionHash }, again }: MinedBundle): Promise<void> {
    try {
      const run = await again()
      if (typeof run === 'string') metrics.count('purser_witnesses_total', { outcome: run })
      else witnesses.record({ hash: transactionHash, appId: undefined }, run.witness)
    } catch (error) {
      metrics.count('purser_witnesses_total', { outcome: 'unanswered' })
      logger.debug({ err: error, transactionHash }, 'a mined bundle cannot be run again')
    }
  }

  return {
    /** Records the bundle in the background. */
    take(bundle: MinedBundle): void {
      if (waiting >= MOST_WAITING) {
        metrics.count('purser_witnesses_total', { outcome: 'lost' })
        return
      }
      waiting++
      last = last.then(() => look(bundle)).finally(() => waiting--)
    },
  }
}
