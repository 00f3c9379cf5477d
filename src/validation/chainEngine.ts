import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import type { EngineChoice } from '../chain/definition/validationSettings.js'
import type { NodeClient } from '../chain/nodeClient.js'
import {
  createStateProvider,
  type StateProvider,
  type StateProviderContext,
} from '../chain/stateProvider.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { CannotSimulateError, TooCostlyError } from '../errors/simulationErrors.js'
import { checkOperation, checkOverride } from './check/checkOperation.js'
import { type CheckedBy, selfCheck } from './check/selfCheck.js'
import type { RuleSettings } from './checkRules.js'
import type { Engine } from './engine.js'
import { createEngineOn, createInProcessEngine } from './inProcess/inProcessEngine.js'
import { replayBundle } from './inProcess/replayBundle.js'
import type { BundleRun, BundleTransaction } from './inProcess/runBundle.js'
import { createNodeEngine } from './node/nodeEngine.js'
import { type Compared, createNodeWatch } from './nodeWatch.js'
import type { Simulations } from './simulations.js'
import { createTraceEngine } from './trace/traceEngine.js'
import { findTracer } from './tracer.js'

export type { BundleRun, BundleTransaction }

/** The way a validation was made; by `outline` the node told its result only (see ObservedOutline). */
export type ValidatedBy = 'inProcess' | 'trace' | 'outline'

export type ChainEngineContext = StateProviderContext & {
  readonly entryPoints: readonly EntryPoint[]
  readonly choice: EngineChoice
  readonly simulations: Simulations
  /** Called for each validation that came to a result. */
  readonly onValidated: (by: ValidatedBy) => void
  /** Share (0 to 1) of our EVM's validations that the node repeats; see createNodeWatch. */
  readonly comparedShare: number
  /** An operation that breaks these rules is not compared. */
  readonly rules: Pick<RuleSettings, 'limits' | 'stakePolicy'>
  /** Called for each comparison of our EVM with the node. */
  readonly onCompared: (outcome: Compared) => void
  readonly logger: Logger
}

export type ChainEngine = Engine & {
  /** See `replayBundle`. Throws CannotSimulateError where our EVM is not used. */
  replay(entryPoint: EntryPoint, blockHash: Hex, transaction: BundleTransaction): Promise<BundleRun>
  /** The reason why our EVM is not used; undefined while it is. */
  trouble(): string | undefined
  stop(): void
}

type Validator = Pick<Engine, 'validate'> & { readonly by: ValidatedBy }

/**
 * The engine of one chain. Each EntryPoint is first run in our EVM and on the node: where both agree to
 * the unit of gas our EVM is trusted, else an alarm is logged. Validations go as `choice` says. The node
 * traces those that our EVM cannot run, so that all rules can be checked all the same. Only a node
 * without tracers leaves no more than the outline of v0.6's own simulation. An operation that neither
 * can validate is refused with CannotSimulateError. Our EVM measures gas limits and executes wherever
 * it is trusted, as an untouched EntryPoint runs nothing that is not signed.
 */
export async function createChainEngine(context: ChainEngineContext): Promise<ChainEngine> {
  const { node, heads, entryPoints, choice, simulations, onValidated, logger } = context
  const simulating = createNodeEngine({ node })
  const state = await tryStateProvider(context)
  const inProcess = state && createInProcessEngine({ state, simulations })
  const tracing = state && (await tryTraceEngine({ node, heads, state, entryPoints, logger }))
  const checks = entryPoints.map((entryPoint) => agrees({ node, state, logger }, entryPoint))
  const agreed = (await Promise.all(checks)).filter((check) => check !== undefined)
  const trusted = new Set(agreed.map(({ entryPoint }) => entryPoint))
  const nodeTraces = agreed.some(({ by }) => by === 'trace')
  const watch =
    nodeTraces &&
    state &&
    createNodeWatch({
      node,
      logger,
      share: context.comparedShare,
      onCompared: context.onCompared,
      newestEngine: createEngineOn(state.withNewestState, simulations),
      rules: context.rules,
    })

  function validatorsOf(entryPoint: EntryPoint): Validator[] {
    const validators: Validator[] = []
    if (choice !== 'node' && inProcess && trusted.has(entryPoint.address)) {
      validators.push({ ...inProcess, by: 'inProcess' })
    }
    if (choice === 'inProcess') return validators
    if (tracing) validators.push({ ...tracing, by: 'trace' })
    else if (entryPoint.hasSimulations) validators.push({ ...simulating, by: 'outline' })
    return validators
  }

  const validate: Engine['validate'] = async (entryPoint, op, override) => {
    let refusal: CannotSimulateError | undefined
    for (const validator of validatorsOf(entryPoint)) {
      try {
        const result = await validator.validate(entryPoint, op, override)
        if (watch && result.ok && validator.by === 'inProcess') {
          watch.compare(entryPoint, op, result.validation, override)
          if (watch.isDoubted(result.validation)) throw new CannotSimulateError(DOUBTED)
        }
        onValidated(validator.by)
        return result
      } catch (error) {
        if (!canNodeTry(error)) throw error
        logger.warn({ reason: error.message }, 'our EVM cannot validate an operation')
        refusal = error
      }
    }
    throw refusal ?? new CannotSimulateError(UNTRUSTED)
  }

  /** Our EVM where it is trusted and able, else the node's own simulation. */
  async function withEngine<R>(
    entryPoint: EntryPoint,
    use: (engine: Engine) => Promise<R>,
  ): Promise<R> {
    try {
      if (inProcess === undefined || !trusted.has(entryPoint.address)) {
        throw new CannotSimulateError(UNTRUSTED)
      }
      return await use(inProcess)
    } catch (error) {
      if (!canNodeTry(error) || !entryPoint.hasSimulations) throw error
      logger.warn({ reason: error.message }, 'the node simulates instead of our EVM')
      return use(simulating)
    }
  }

  return {
    validate,
    execute: (entryPoint, ...rest) =>
      withEngine(entryPoint, (engine) => engine.execute(entryPoint, ...rest)),
    measure: (entryPoint, ...rest) =>
      withEngine(entryPoint, (engine) => engine.measure(entryPoint, ...rest)),
    async replay(entryPoint, blockHash, transaction) {
      if (!state || !trusted.has(entryPoint.address)) throw new CannotSimulateError(UNTRUSTED)
      return replayBundle({ state, simulations }, entryPoint, blockHash, transaction)
    },
    trouble: () =>
      entryPoints.every(({ address }) => trusted.has(address)) ? undefined : UNTRUSTED,
    stop: () => state?.stop(),
  }
}

/** Whether our EVM has failed at something that a node may have, and not because it takes too much. */
function canNodeTry(error: unknown): error is CannotSimulateError {
  return error instanceof CannotSimulateError && !(error instanceof TooCostlyError)
}

const DOUBTED = 'the node runs some of its code otherwise than our EVM'
const UNTRUSTED = 'our EVM does not agree with the node of this chain'

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

type TracerContext = Pick<ChainEngineContext, 'node' | 'heads' | 'entryPoints' | 'logger'> & {
  readonly state: StateProvider
}

/** Undefined on a node that does not trace calls. */
async function tryTraceEngine(context: TracerContext) {
  const { node, entryPoints, logger } = context
  const [entryPoint] = entryPoints
  const tracer = entryPoint && (await findTracer(node, entryPoint))
  logger.info({ tracer: tracer ?? 'none' }, 'how the node can trace validations')
  return tracer && createTraceEngine({ ...context, tracer })
}

type CheckContext = {
  readonly node: NodeClient
  readonly state: StateProvider | undefined
  readonly logger: Logger
}

/** The EntryPoint's address, and what was compared, when our EVM and the node agree about it. */
async function agrees(
  { node, state, logger }: CheckContext,
  entryPoint: EntryPoint,
): Promise<{ readonly entryPoint: Address; readonly by: CheckedBy } | undefined> {
  if (state === undefined) return undefined
  const { version, address } = entryPoint
  const check = await selfCheck({ node, state }, entryPoint, checkOperation, checkOverride)
  if (check.agrees) {
    logger.info({ entryPoint: address, version, by: check.by }, 'our EVM agrees with the node')
    return { entryPoint: address, by: check.by }
  }
  logger.error({ entryPoint: address, version, ...check }, 'our EVM DIFFERS from the node')
  return undefined
}
