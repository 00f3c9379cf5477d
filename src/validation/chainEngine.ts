import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import {
  createStateProvider,
  type StateProvider,
  type StateProviderContext,
} from '../chain/stateProvider.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { CannotSimulateError } from '../errors/simulationErrors.js'
import { checkOperation, checkOverride } from './checkOperation.js'
import type { Engine } from './engine.js'
import { createInProcessEngine } from './inProcessEngine.js'
import { createNodeEngine, simulatesOnNode } from './nodeEngine.js'
import { selfCheck } from './selfCheck.js'

export type ChainEngineContext = StateProviderContext & {
  readonly entryPoints: readonly EntryPoint[]
  readonly logger: Logger
}

export type ChainEngine = Engine & { stop(): void }

/**
 * The engine of one chain. Each EntryPoint is first run in our EVM and on the node: where both agree to
 * the unit of gas, operations run in-process, and the node is only asked what our EVM cannot say. Where
 * they differ an alarm is logged, and the node is asked for everything that it can simulate
 * (`simulatesOnNode`); the rest is refused with CannotSimulateError.
 */
export async function createChainEngine(context: ChainEngineContext): Promise<ChainEngine> {
  const { node, entryPoints, logger } = context
  const onNode = createNodeEngine({ node })
  const state = await tryStateProvider(context)
  const inProcess = state && createInProcessEngine({ state })
  const checks = entryPoints.map((entryPoint) => agrees({ node, state, logger }, entryPoint))
  const trusted: ReadonlySet<Address | undefined> = new Set(await Promise.all(checks))

  async function run<R>(entryPoint: EntryPoint, ask: (engine: Engine) => Promise<R>): Promise<R> {
    try {
      if (inProcess === undefined || !trusted.has(entryPoint.address)) {
        throw new CannotSimulateError('our EVM does not agree with the node of this chain')
      }
      return await ask(inProcess)
    } catch (error) {
      if (!(error instanceof CannotSimulateError) || !simulatesOnNode(entryPoint)) throw error
      logger.warn({ reason: error.message }, 'the node simulates instead of our EVM')
      return ask(onNode)
    }
  }

  return {
    validate: (entryPoint, ...rest) =>
      run(entryPoint, (engine) => engine.validate(entryPoint, ...rest)),
    execute: (entryPoint, ...rest) =>
      run(entryPoint, (engine) => engine.execute(entryPoint, ...rest)),
    measure: (entryPoint, ...rest) =>
      run(entryPoint, (engine) => engine.measure(entryPoint, ...rest)),
    stop: () => state?.stop(),
  }
}

/** Undefined, with an alarm, on a chain whose rules our EVM does not have. */
async function tryStateProvider(context: ChainEngineContext): Promise<StateProvider | undefined> {
  try {
    return await createStateProvider(context)
  } catch (error) {
    if (!(error instanceof CannotSimulateError)) throw error
    context.logger.error({ reason: error.message }, 'our EVM cannot run this chain')
    return undefined
  }
}

type CheckContext = {
  readonly node: NodeClient
  readonly state: StateProvider | undefined
  readonly logger: Logger
}

/** The EntryPoint's address when our EVM and the node agree about it. */
async function agrees(
  { node, state, logger }: CheckContext,
  entryPoint: EntryPoint,
): Promise<Address | undefined> {
  if (state === undefined) return undefined
  const { version, address } = entryPoint
  const check = await selfCheck({ node, state }, entryPoint, checkOperation, checkOverride)
  if (check.agrees) {
    logger.info({ entryPoint: address, version, by: check.by }, 'our EVM agrees with the node')
    return address
  }
  logger.error({ entryPoint: address, version, ...check }, 'our EVM DIFFERS from the node')
  return undefined
}
