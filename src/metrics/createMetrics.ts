import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { GasCompared } from '../bundling/createGasWatch.js'
import type { LimitName } from '../errors/limitErrors.js'
import type { ValidatedBy } from '../validation/chainEngine.js'
import type { Compared } from '../validation/nodeWatch.js'
import type { RuleOutcome } from '../validation/requireRules.js'
import type { WebhookOutcome } from '../webhook/approval.js'

/**
 * The counters of the process. A method is called when its event has happened; callbacks for it are
 * named `on` and the method. Label values come from closed lists, so their number is bounded.
 */
export type Metrics = {
  /** @param code `ok`, or the JSON-RPC code of the refusal */
  call(method: string, code: string, seconds: number): void
  /** @param route of the route table, never the path of the request */
  request(route: string, status: number): void
  limited(limit: LimitName): void
  /** Refusals of calls that are not recorded, because there were too many. */
  refusalsLost(count: number): void
  /** A webhook was asked for its approval, or the call was not made. */
  approvalCalled(outcome: WebhookOutcome, milliseconds: number): void
  /** A webhook failed so often that it is not called for a while. */
  circuitOpened(): void
  /** An event was sent to its subscription, with success or not. */
  deliveryAttempted(outcome: string): void
  /** A bundle reached its final state. */
  bundleEnded(chainId: number, state: string): void
  /** An operation was checked by the rules of ERC-7562. */
  rulesChecked(chainId: number, outcome: RuleOutcome): void
  /** An operation was validated. */
  validated(chainId: number, by: ValidatedBy): void
  /** A validation of our EVM was compared with the node. */
  compared(chainId: number, outcome: Compared): void
  /** A mined bundle with staked entities was compared with its validation (EREP-070). */
  gasCompared(chainId: number, outcome: GasCompared): void
  /** Sets the source of the pool sizes, which is read at each scrape. */
  readPoolWith(readPool: PoolReader): void
  /** The text format of Prometheus. */
  text(): Promise<string>
  readonly contentType: string
}

/** The number of a chain's operations in a state. */
export type PoolSize = {
  readonly chain: string
  readonly state: string
  readonly operations: number
}

type PoolReader = () => Promise<readonly PoolSize[]>

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Sums of prom-client's that end as counters do and are none; the same names without `_total` have them by kind. */
const misnamedGauges = ['resources', 'handles', 'requests'].map(
  (kind) => `purser_nodejs_active_${kind}_total`,
)

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'purser_' })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  const { rpcDurations, webhookDurations } = createHistograms(registry)
  const counters = createCounters(registry)
  let readPool: PoolReader = async () => []
  addPoolGauge(registry, () => readPool())

  return {
    call(method, code, seconds) {
      counters.rpcCalls.inc({ method, code })
      rpcDurations.observe({ method }, seconds)
    },
    request: (route, status) => counters.restRequests.inc({ route, status: String(status) }),
    limited: (limit) => counters.rateLimited.inc({ limit }),
    refusalsLost: (count) => counters.refusalsLost.inc(count),
    approvalCalled: (outcome, milliseconds) =>
      webhookDurations.observe({ outcome }, milliseconds / 1_000),
    circuitOpened: () => counters.circuits.inc(),
    deliveryAttempted: (outcome) => counters.deliveries.inc({ outcome }),
    bundleEnded: (chainId, state) => counters.bundles.inc({ chain: String(chainId), state }),
    rulesChecked: (chainId, outcome) =>
      counters.ruleChecks.inc({ chain: String(chainId), outcome }),
    validated: (chainId, engine) => counters.validations.inc({ chain: String(chainId), engine }),
    compared: (chainId, outcome) => counters.comparisons.inc({ chain: String(chainId), outcome }),
    gasCompared: (chainId, outcome) =>
      counters.bundleGasComparisons.inc({ chain: String(chainId), outcome }),
    readPoolWith: (reader) => {
      readPool = reader
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function createHistograms(registry: Registry) {
  const histogram = <const Label extends string>(name: string, help: string, label: Label) =>
    new Histogram<Label>({
      name,
      help,
      labelNames: [label],
      buckets: durationBuckets,
      registers: [registry],
    })
  return {
    rpcDurations: histogram(
      'purser_rpc_duration_seconds',
      'How long a JSON-RPC call took.',
      'method',
    ),
    webhookDurations: histogram(
      'purser_webhook_duration_seconds',
      'Approval calls by outcome, and how long they took.',
      'outcome',
    ),
  }
}

function createCounters(registry: Registry) {
  const counter = <const Label extends string>(name: string, help: string, ...labels: Label[]) =>
    new Counter<Label>({ name, help, labelNames: labels, registers: [registry] })
  return {
    rpcCalls: counter(
      'purser_rpc_calls_total',
      'JSON-RPC calls by method and code (ok or the error code).',
      'method',
      'code',
    ),
    restRequests: counter(
      'purser_rest_requests_total',
      'Requests to the REST APIs by route and HTTP status.',
      'route',
      'status',
    ),
    rateLimited: counter(
      'purser_rate_limited_total',
      'Requests and calls refused by a rate limit.',
      'limit',
    ),
    refusalsLost: counter(
      'purser_refusals_unrecorded_total',
      'Refusals that are not recorded, because there were too many or the database was away.',
    ),
    circuits: counter(
      'purser_webhook_circuits_opened_total',
      'How often a webhook failed so much that it is left alone.',
    ),
    deliveries: counter(
      'purser_event_deliveries_total',
      'Attempts to deliver an event by outcome.',
      'outcome',
    ),
    bundles: counter(
      'purser_bundles_total',
      'Bundles by the state they reached.',
      'chain',
      'state',
    ),
    ruleChecks: counter(
      'purser_rule_judgements_total',
      'Operations by how the rules of ERC-7562 judged them.',
      'chain',
      'outcome',
    ),
    validations: counter(
      'purser_validations_total',
      'Validations by where they ran: in our EVM, traced by the node, or only outlined by it.',
      'chain',
      'engine',
    ),
    comparisons: counter(
      'purser_validations_compared_total',
      'Validations of our EVM by how their comparison with the node ended.',
      'chain',
      'outcome',
    ),
    bundleGasComparisons: counter(
      'purser_bundle_gas_compared_total',
      'Mined bundles by how the gas of their staked entities compares with its validation.',
      'chain',
      'outcome',
    ),
  }
}

function addPoolGauge(registry: Registry, readPool: PoolReader): void {
  new Gauge({
    name: 'purser_pool_operations',
    help: 'Operations in the pool and in open bundles.',
    labelNames: ['chain', 'state'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { chain, state, operations } of await readPool()) {
        this.set({ chain, state }, operations)
      }
    },
  })
}
