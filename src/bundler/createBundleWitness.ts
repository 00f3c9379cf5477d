import type { Logger } from 'pino'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../db/database.js'
import { toHex } from '../evm/index.js'
import type { ChainEngine, ReplayedBundle } from '../simulation/chainEngine.js'
import type { WitnessedRun } from '../simulation/witness.js'
import type { WitnessRecorder } from '../mempool/witnesses.js'
import { type MinedBundle, sentTransaction } from './minedBundle.js'

type BundleWitnessContext = {
  readonly chainId: number
  readonly database: Database
  readonly replay: ChainEngine['replay']
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
export function createBundleWitness(context: BundleWitnessContext) {
  const { metrics, witnesses, logger } = context
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  async function look(bundle: MinedBundle): Promise<void> {
    const { transactionHash } = bundle.receipt
    try {
      const answer = await witnessBundle(context, bundle)
      if (typeof answer === 'string') metrics.count('purser_witnesses_total', { outcome: answer })
      else witnesses.record({ hash: transactionHash, appId: undefined }, () => answer)
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

/**
 * The witness of a mined bundle of ours, where our EVM repeats what the chain did: the same status, the same logs and
 * the same gas. Throws CannotSimulateError, or NodeUnavailableError.
 */
export async function witnessBundle(
  context: Pick<BundleWitnessContext, 'chainId' | 'database' | 'replay'>,
  { receipt, entryPoint }: MinedBundle,
): Promise<WitnessedRun | 'differs' | 'unanswered'> {
  const transaction = await sentTransaction(context, receipt)
  if (transaction === undefined) return 'unanswered'
  const run = await context.replay(entryPoint, receipt.blockHash, transaction)
  return repeats(run, receipt) ? run.witness() : 'differs'
}

function repeats({ success, gasUsed, logs }: ReplayedBundle, receipt: TransactionReceipt): boolean {
  const { status, gasUsedForL1 = 0n } = receipt
  return (
    success === (status === 1) &&
    BigInt(gasUsed) === receipt.gasUsed - gasUsedForL1 &&
    logs.length === receipt.logs.length &&
    logs.every(({ address, topics, data }, at) => {
      const mined = receipt.logs[at]
      return (
        mined?.address === address &&
        mined.topics.join() === topics.join() &&
        mined.data === toHex(data)
      )
    })
  )
}
