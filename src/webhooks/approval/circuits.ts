import {
  BrokenCircuitError,
  BulkheadRejectedError,
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
  type IBreaker,
  SamplingBreaker,
  wrap,
} from 'cockatiel'
import { Lru } from '../../base/lru.js'

const HALF_OPEN_AFTER = 10_000
const IN_FLIGHT = 50
const REMEMBERED = 10_000

/**
 * The guard that keeps a webhook which fails or hangs from costing every sponsorship its deadline.
 * @param isFailure whether a call's result counts against the webhook
 * @param onOpen hears each time that a webhook's circuit opens
 * @param onClose hears each time that it closes again
 */
export function createCircuits(
  isFailure: (result: unknown) => boolean,
  onOpen: (webhookId: string) => void,
  onClose: (webhookId: string) => void,
) {
  const makePolicy = (webhookId: string) => {
    const breaker = circuitBreaker(handleWhenResult(isFailure), {
      halfOpenAfter: HALF_OPEN_AFTER,
      breaker: either(
        new ConsecutiveBreaker(5),
        // It opens above the threshold, and one half is meant to open it.
        new SamplingBreaker({ threshold: 0.499, duration: 30_000, minimumRps: 20 / 30 }),
      ),
    })
    breaker.onBreak(() => onOpen(webhookId))
    breaker.onReset(() => onClose(webhookId))
    return { breaker, guarded: wrap(bulkhead(IN_FLIGHT), breaker) }
  }
  const policies = new Lru<string, ReturnType<typeof makePolicy>>(REMEMBERED)

  return {
    /**
     * Runs the call, or gives the reason why not: `circuit_open` after 5 failures in a row or when
     * half of 20 or more calls of the last 30 s failed, until one probe after 10 s goes well;
     * `overloaded` with 50 calls of this webhook under way.
     */
    async run<Result>(webhookId: string, call: () => Promise<Result>) {
      const policy = policies.get(webhookId) ?? makePolicy(webhookId)
      policies.set(webhookId, policy)
      // While the one probe is under way, other sponsorships do not wait for its result.
      if (policy.breaker.state === CircuitState.HalfOpen) return 'circuit_open'
      try {
        return await policy.guarded.execute(call)
      } catch (error) {
        if (error instanceof BrokenCircuitError) return 'circuit_open'
        if (error instanceof BulkheadRejectedError) return 'overloaded'
        throw error
      }
    },
  }
}

/** A breaker that opens when one of both would. */
function either(a: IBreaker, b: IBreaker): IBreaker {
  return {
    state: undefined,
    success: (state) => {
      a.success(state)
      b.success(state)
    },
    failure: (state) => [a.failure(state), b.failure(state)].some(Boolean),
  }
}
