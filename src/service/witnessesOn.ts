import type { ChainServices, RecordedOperation } from '../api/services.js'
import { minedBundle } from '../bundler/minedBundle.js'
import { getTransactionReceipt } from '../chain/nodeReads.js'
import type { Database } from '../db/database.js'
import { inSequence } from '../mempool/inSequence.js'
import type { WitnessedRun } from '../simulation/witness.js'
import type { OpenChain } from './openChain.js'

/** What repeats runs that were not kept, made when somebody looks at an operation. */
export function witnessesOn(
  { node, definition, entryPoints, engine, witnesses }: OpenChain,
  database: Database,
): ChainServices['witnesses'] {
  const { chainId } = definition

  async function runAlone({
    entryPoint,
    operation,
    blockHash,
    isPending,
  }: RecordedOperation): Promise<WitnessedRun> {
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

  return {
    async mined(hash) {
      const receipt = await getTransactionReceipt(node, hash)
      const entryPoint = entryPoints.find(({ address }) => address === receipt?.to)
      if (receipt === undefined || entryPoint === undefined) return undefined
      const context = { chainId, database, replay: engine.replay, node }
      const run = await minedBundle(context, receipt, entryPoint).again()
      if (typeof run === 'string') return undefined
      const witness = run.witness()
      witnesses.record({ hash, appId: undefined }, () => witness)
      return witness
    },
    async alone(operation) {
      const run = await runAlone(operation)
      const { userOpHash: hash, appId, isPending } = operation
      // The state that a pending one meets changes with each block.
      if (!isPending) witnesses.record({ hash, appId }, () => run)
      return run
    },
    readState: engine.readState,
  }
}
