import type { Hex } from 'viem'
import type { ChainServices, ReplayableOperation } from '../api/services.js'
import { replays } from '../base/requester.js'
import { minedBundle } from '../bundler/minedBundle.js'
import { getTransactionReceipt } from '../chain/nodeReads.js'
import type { Database } from '../db/database.js'
import { inSequence } from '../mempool/inSequence.js'
import { findOperation } from '../mempool/pool/operations.js'
import type { WitnessedRun } from '../simulation/witness.js'
import type { OpenChain } from './openChain.js'

/** Operations that ended and wait at most to be run. */
const MOST_WAITING = 20

/** What repeats runs that were not kept, made when somebody looks at an operation. */
export function witnessesOn(
  { node, definition, entryPoints, engine: ofAll, witnesses, logger }: OpenChain,
  database: Database,
) {
  const { chainId } = definition
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  async function runAlone({
    entryPoint,
    operation,
    blockHash,
    isPending,
    requester,
  }: ReplayableOperation): Promise<WitnessedRun> {
    const engine = ofAll.by(requester)
    if (blockHash !== undefined) {
      const past = await engine.openPast(entryPoint, operation, blockHash)
      return past.by(undefined).witness(entryPoint, operation)
    }
    if (!isPending) return engine.witness(entryPoint, operation)
    // Behind the account's operations that are pending before it.
    const { override } = await inSequence(
      { node, definition, database },
      entryPoint,
      operation,
      (state) => engine.validate(entryPoint, operation, state),
    )
    return engine.witness(entryPoint, operation, override)
  }

  async function alone(operation: ReplayableOperation): Promise<WitnessedRun> {
    const run = await runAlone(operation)
    const { userOpHash: hash, appId, isPending } = operation
    // The state that a pending one meets changes with each block.
    if (!isPending) witnesses.record({ hash, appId }, () => run)
    return run
  }

  /** Runs an operation that left the pool, unless the run that decided it was kept. */
  async function keepEnded(hash: Hex): Promise<void> {
    const stored = witnesses.has(hash) ? undefined : await findOperation(database, chainId, hash)
    const entryPoint = entryPoints.find(({ address }) => address === stored?.entryPoint)
    if (stored === undefined || entryPoint === undefined) return
    const { appId, operation } = stored
    const ended = { userOpHash: hash, blockHash: undefined, isPending: false, requester: replays }
    await alone({ ...ended, entryPoint, appId, operation })
  }

  const services = {
    async mined(hash: Hex) {
      const receipt = await getTransactionReceipt(node, hash)
      const entryPoint = entryPoints.find(({ address }) => address === receipt?.to)
      if (receipt === undefined || entryPoint === undefined) return undefined
      const context = { chainId, database, replay: ofAll.replay, node }
      const run = await minedBundle(context, receipt, entryPoint).again()
      if (typeof run === 'string') return undefined
      const witness = run.witness()
      witnesses.record({ hash, appId: undefined }, () => witness)
      return witness
    },
    alone,
    readState: ofAll.readState,
  } satisfies ChainServices['witnesses']
  return {
    ...services,
    /** Keeps, in the background, what repeats an operation that was dropped or replaced. */
    ended(hash: Hex): void {
      if (waiting >= MOST_WAITING) return
      waiting++
      last = last
        .then(() => keepEnded(hash))
        .catch((error) => logger.debug({ err: error, op: hash }, 'a dropped one cannot be run'))
        .finally(() => waiting--)
    },
  }
}
