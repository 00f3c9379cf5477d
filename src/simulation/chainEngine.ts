import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import {
  CannotSimulateError,
  TooCostlyError,
  TraceRefusedError,
} from '../base/errors/simulationErrors.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { Requester } from '../base/requester.js'
import { BlockGone } from '../chain/blockReads.js'
import type { ChainRules, ComingFork } from '../chain/chainRules.js'
import type { NodeClient } from '../chain/nodeClient.js'
import {
  createStateProvider,
  type StateProvider,
  type StateProviderContext,
} from '../chain/stateProvider.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { EngineChoice } from '../erc4337/validationSettings.js'
import type { Fork, Miss, State } from '../evm/index.js'
import { type CheckedBy, checkOperation, checkOverride, selfCheck } from './check/selfCheck.js'
import type { RuleSettings } from './checkRules.js'
import type { Engine, Inspecting } from './engine.js'
import { accessHintsOf, type ForeseenOperation } from './inProcess/accessHintsOf.js'
import { engineOnBothSides } from './inProcess/engineOnBothSides.js'
import { createEngineOn } from './inProcess/inProcessEngine.js'
import type { Extent } from './inProcess/observeOperation.js'
import { openPast, type IncludedOperation } from './inProcess/pastOperation.js'
import { type ReplayedBundle, replayBundle } from './inProcess/replayBundle.js'
import type { BundleTransaction } from './inProcess/runBundle.js'
import { createKnownValidations, type KnownValidations } from './knownValidations.js'
import { createNodeEngine } from './node/nodeEngine.js'
import { createNodeWatch } from './nodeWatch.js'
import type { Simulations } from './simulations.js'
import { knows } from './threads/carriedBlock.js'
import { findTracer } from './tracer.js'

export type { BundleTransaction, IncludedOperation, ReplayedBundle }

type ChainEngineContext = StateProviderContext & {
  readonly entryPoints: readonly EntryPoint[]
  readonly choice: EngineChoice
  readonly simulations: Simulations
  readonly metrics: ChainMetrics
  /** Share (0 to 1) of our EVM's validations that the node repeats, and of those recalled that are run again. */
  readonly comparedShare: number
  /** An operation that breaks these rules is not compared. */
  readonly rules: Pick<RuleSettings, 'limits' | 'stakePolicy'>
  readonly logger: Logger
}

/** The engine of a chain for one party, which pays for what it runs. */
export type PartyEngine = Engine &
  Inspecting & {
    /** See `openPast`. Throws CannotSimulateError where our EVM is not used. */
    openPast(entryPoint: EntryPoint, op: Operation, blockHash: Hex): Promise<IncludedOperation>
  }

/** It runs operations for a party only: each caller says for whom it works (`by`). */
export type ChainEngine = KnownValidations & {
  /** The engine that works for `requester`; undefined = for the service itself. */
  by(requester: Requester | undefined): PartyEngine
  /** Reads the state that a run of `op` likely needs, where our EVM is used. Never throws. */
  foresee(entryPoint: EntryPoint, op: ForeseenOperation, extent: Extent): Promise<void>
  /** For `replays`. See `replayBundle`. Throws CannotSimulateError where our EVM is not used. */
  replay(
    entryPoint: EntryPoint,
    blockHash: Hex,
    transaction: BundleTransaction,
  ): Promise<ReplayedBundle>
  /**
   * Reads parts of the state before block `hash`, or of the newest where there is none. Throws CannotSimulateError where
   * the node has lost it.
   */
  readState(hash: Hex | undefined, parts: readonly Miss[]): Promise<State>
  /** The forks whose rules a bundle may meet that is sent soon: those of now, and those that are an hour away at most. */
  forks(): readonly Fork[]
  /** The fork that the chain announces; undefined where none is known. */
  coming(): ComingFork | undefined
  /** The reason why our EVM is not used; undefined while it is. */
  trouble(): string | undefined
  stop(): void
}

type Validator = Pick<Engine, 'validate'> & {
  /** The way a validation is made; by `resultOnly` the node says its result only (see ObservedResult). */
  readonly by: 'inProcess' | 'trace' | 'resultOnly'
}

/**
 * The engine of one chain. Each EntryPoint is first run in our EVM and on the node: where both agree to
 * the unit of gas our EVM is trusted, else an alert is logged. Validations go as `choice` says. What our
 * EVM cannot run is left to the node (`createNodeEngine`), which traces validations, so that all rules can be checked all the
 * same; only a node without tracers leaves only its result. Our EVM measures gas limits and executes wherever
 * it is trusted and able.
 */
export async function createChainEngine(context: ChainEngineContext): Promise<ChainEngine> {
  const { node, heads, entryPoints, choice, simulations, logger } = context
  const state = await tryStateProvider({ ...context, onRules })
  const tracer = entryPoints[0] && (await findTracer(node, entryPoints[0]))
  logger.info({ tracer: tracer ?? 'none' }, 'how the node can trace validations')
  const tracing = state && tracer && { node, heads, state, tracer }
  const fallback = createNodeEngine({ node, tracing })
  if (state) announce(logger, state.rules())
  const agreed = await agreement({ node, state, logger }, entryPoints)
  let trusted = new Set(agreed.map(({ entryPoint }) => entryPoint))
  const nodeTraces = agreed.some(({ by }) => by === 'trace')
  const watch = nodeTraces && state ? openWatch(context, state) : undefined

  /** Whether our EVM agrees is asked again by the rules that hold now: a fork that it does not know shows there only. */
  function onRules(rules: ChainRules, before: ChainRules): void {
    announce(logger, rules, before)
    agreement({ node, state, logger }, entryPoints).then(
      (again) => {
        trusted = new Set(again.map(({ entryPoint }) => entryPoint))
      },
      (error) => logger.error({ err: error }, 'the self-check could not run'),
    )
  }

  const trustedState = ({ address }: EntryPoint) => (trusted.has(address) ? state : undefined)
  const fallbackBy = tracing ? 'trace' : 'resultOnly'
  const shared = { ...context, trustedState, fallback, fallbackBy, watch } as const
  const by: ChainEngine['by'] = (requester) => engineBy(shared, requester)

  const isTrusted: IsTrusted = ({ address }, codes) =>
    choice !== 'node' && trusted.has(address) && !watch?.isQuarantined(codes)

  return {
    by,
    // A recalled validation that is run again is our own sample.
    ...knownOn(state, { ...context, engine: by(undefined), isTrusted }),
    forks: () => state?.forks() ?? ['osaka'],
    coming: () => state?.rules().next,
    async replay(entryPoint, ...rest) {
      const state = requireTrust(trustedState(entryPoint))
      return replayBundle({ state, simulations }, entryPoint, ...rest)
    },
    foresee: async (entryPoint, op, extent) =>
      trustedState(entryPoint)?.foresee(accessHintsOf(entryPoint, op, extent)),
    readState: (hash, parts) => readParts(state, hash, parts),
    trouble: () =>
      entryPoints.every(({ address }) => trusted.has(address)) ? undefined : UNTRUSTED,
    stop: () => state?.stop(),
  }
}

/** The parts of a chain's engine that all parties share. */
type SharedParts = Pick<ChainEngineContext, 'choice' | 'simulations' | 'metrics' | 'logger'> & {
  /** The state on which our EVM may run for an EntryPoint; undefined where it may not. */
  readonly trustedState: (entryPoint: EntryPoint) => StateProvider | undefined
  readonly fallback: Engine
  readonly fallbackBy: Exclude<Validator['by'], 'inProcess'>
  readonly watch: ReturnType<typeof openWatch> | undefined
}

/** See `ChainEngine.by`. */
function engineBy(
  { trustedState, simulations, fallback, fallbackBy, choice, watch, metrics, logger }: SharedParts,
  requester: Requester | undefined,
): PartyEngine {
  const party = { simulations, requester }
  const ownEvm = (entryPoint: EntryPoint) =>
    engineOnBothSides(requireTrust(trustedState(entryPoint)), party)

  function validatorsOf(entryPoint: EntryPoint): Validator[] {
    const validators: Validator[] = []
    if (choice !== 'node' && trustedState(entryPoint))
      validators.push({ validate: ownEvm(entryPoint).validate, by: 'inProcess' })
    if (choice === 'inProcess') return validators
    validators.push({ validate: fallback.validate, by: fallbackBy })
    return validators
  }

  /** Our EVM where it is trusted and able, else the node. */
  async function withEngine<R>(
    entryPoint: EntryPoint,
    use: (engine: Engine) => Promise<R>,
  ): Promise<R> {
    try {
      return await use(ownEvm(entryPoint))
    } catch (error) {
      if (!canNodeTry(error)) throw error
      logger.warn({ reason: error.message }, 'the node simulates instead of our EVM')
      return use(fallback)
    }
  }

  return {
    async validate(entryPoint, op, override) {
      let refusal: CannotSimulateError | undefined
      for (const validator of validatorsOf(entryPoint)) {
        try {
          const result = await validator.validate(entryPoint, op, override)
          if (watch && result.ok && validator.by === 'inProcess') {
            watch.compare(entryPoint, op, result.validation, override)
            const { observed } = result.validation
            if (observed.kind === 'record' && watch.isQuarantined(observed.codeHashes))
              throw new CannotSimulateError(QUARANTINED)
          }
          metrics.count('purser_validations_total', { engine: validator.by })
          return result
        } catch (error) {
          if (error instanceof TraceRefusedError)
            logger.warn({ reason: String(error.cause) }, 'the node refuses to trace an operation')
          if (!canNodeTry(error)) throw error
          logger.warn({ reason: error.message }, 'our EVM cannot validate an operation')
          refusal = error
        }
      }
      throw refusal ?? new CannotSimulateError(UNTRUSTED)
    },
    execute: (entryPoint, ...rest) =>
      withEngine(entryPoint, (engine) => engine.execute(entryPoint, ...rest)),
    measure: (entryPoint, ...rest) =>
      withEngine(entryPoint, (engine) => engine.measure(entryPoint, ...rest)),
    inspect: async (entryPoint, op) => ownEvm(entryPoint).inspect(entryPoint, op),
    witness: async (...request) => ownEvm(request[0]).witness(...request),
    openPast: async (entryPoint, ...rest) => {
      const state = requireTrust(trustedState(entryPoint))
      return openPast({ ...party, state }, entryPoint, ...rest)
    },
  }
}

/** Throws CannotSimulateError where our EVM may not run. */
function requireTrust(state: StateProvider | undefined): StateProvider {
  if (!state) throw new CannotSimulateError(UNTRUSTED)
  return state
}

/** See `ChainEngine.readState`. */
async function readParts(
  state: StateProvider | undefined,
  hash: Hex | undefined,
  parts: readonly Miss[],
): Promise<State> {
  if (!state) throw new CannotSimulateError(UNTRUSTED)
  if (hash === undefined)
    return state.read(parts).catch((error: unknown) => {
      if (!(error instanceof BlockGone)) throw error
      throw new CannotSimulateError(error.message)
    })
  const { known } = await state.withStateBefore(hash, [], async (known) => {
    const misses = parts.filter((part) => !knows(known, part))
    return misses.length > 0 ? { kind: 'missing', misses } : { kind: 'done' }
  })
  return known
}

function openWatch(context: ChainEngineContext, state: StateProvider) {
  const { node, comparedShare: share, metrics, rules, logger, simulations } = context
  // A comparison is our own sample: the request that it began in does not pay for it.
  const party = { simulations, requester: undefined }
  const newestEngine = createEngineOn(state.withNewestState, party)
  return createNodeWatch({ node, newestEngine, share, metrics, rules, logger })
}

type IsTrusted = Parameters<typeof createKnownValidations>[0]['isTrusted']

/** The memory of validations; one that has nothing where our EVM cannot run. */
function knownOn(
  state: StateProvider | undefined,
  context: Pick<ChainEngineContext, 'comparedShare' | 'metrics' | 'logger'> & {
    readonly engine: Pick<Engine, 'validate'>
    readonly isTrusted: IsTrusted
  },
): KnownValidations {
  if (state) return createKnownValidations({ ...context, state, share: context.comparedShare })
  return { remember: () => {}, recall: async () => new Map() }
}

/** Whether our EVM has failed at something that a node may have, and not because it takes too much. */
function canNodeTry(error: unknown): error is CannotSimulateError {
  return error instanceof CannotSimulateError && !(error instanceof TooCostlyError)
}

const FORK_COMING = 'the chain announces a fork'
const FORK_ACTIVE = 'the chain activated a fork'

/** Logs the rules that are announced, and those that hold instead of `before`. */
function announce(logger: Logger, { fork, next }: ChainRules, before?: ChainRules): void {
  const isNews = next?.activation !== before?.next?.activation
  if (next && isNews) logger.warn({ fork: next.fork, at: isoTime(next.activation) }, FORK_COMING)
  if (before && fork !== before.fork) logger.warn({ fork, before: before.fork }, FORK_ACTIVE)
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}

const QUARANTINED = 'the node executes some code differently from our EVM'
const UNTRUSTED = 'our EVM disagrees with the node of this chain'

/** Undefined, with an alert, on a chain whose rules our EVM does not have. */
async function tryStateProvider(
  context: Pick<ChainEngineContext, keyof StateProviderContext | 'logger'>,
): Promise<StateProvider | undefined> {
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

/** Those of the EntryPoints about which our EVM and the node agree. */
async function agreement(context: CheckContext, entryPoints: readonly EntryPoint[]) {
  const checks = entryPoints.map((entryPoint) => agrees(context, entryPoint))
  return (await Promise.all(checks)).filter((check) => check !== undefined)
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
