import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { GasCompared } from '../bundling/createGasWatch.js'
import type { LimitName } from '../errors/limitErrors.js'
import type { RanBy } from '../validation/chainEngine.js'
import type { Compared } from '../validation/nodeWatch.js'
import type { CheckedWith } from '../validation/requireRules.js'
import type { WebhookOutcome } from '../webhook/approval.js'

/** What the process counts. Label values come from closed lists, so their number is bounded. */
export type Metrics = {
  /** @param code `ok`, or the JSON-RPC code of the refusal */
  call(method: string, code: string, seconds: number): void
  /** @param route of the route table, never the path that was asked for */
  request(route: string, status: number): void
  limited(limit: LimitName): void
  webhook(outcome: WebhookOutcome, milliseconds: number): void
  circuitOpened(): void
  delivery(outcome: string): void
  bundle(chainId: number, state: string): void
  /** An operation was judged by ERC-7562. */
  judged(chainId: number, how: CheckedWith): void
  /** An operation was validated. */
  validated(chainId: number, by: RanBy): void
  /** A validation of our EVM was compared with the node. */
  compared(chainId: number, outcome: Compared): void
  /** A mined bundle with staked entities was looked at (EREP-070). */
  gasCompared(chainId: number, outcome: GasCompared): void
  /** Asked at each scrape. */
  onScrape(pool: () => Promise<readonly PoolSize[]>): void
  /** The text format of Prometheus. */
  text(): Promise<string>
  readonly contentType: string
}

/** How many operations of a chain are in a state. */
export type PoolSize = {
  readonly chain: string
  readonly state: string
  readonly operations: number
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'purser_' })
  const calls = new Counter({
    name: 'purser_rpc_calls_total',
    help: 'JSON-RPC calls by method and code (ok or the error code).',
    labelNames: ['method', 'code'],
    registers,
  })
  const durations = new Histogram({
    name: 'purser_rpc_duration_seconds',
    help: 'How long a JSON-RPC call took.',
    labelNames: ['method'],
    buckets,
    registers,
  })
  const requests = new Counter({
    name: 'purser_rest_requests_total',
    help: 'Requests to the REST APIs by route and HTTP status.',
    labelNames: ['route', 'status'],
    registers,
  })
  const limits = new Counter({
    name: 'purser_rate_limited_total',
    help: 'Requests and calls refused by a rate limit.',
    labelNames: ['limit'],
    registers,
  })
  const webhookCalls = new Histogram({
    name: 'purser_webhook_duration_seconds',
    help: 'Approval calls by outcome, and how long they took.',
    labelNames: ['outcome'],
    buckets,
    registers,
  })
  const circuits = new Counter({
    name: 'purser_webhook_circuits_opened_total',
    help: 'How often a webhook failed so much that it is left alone.',
    registers,
  })
  const deliveries = new Counter({
    name: 'purser_event_deliveries_total',
    help: 'Attempts to deliver an event by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const bundles = new Counter({
    name: 'purser_bundles_total',
    help: 'Bundles by the state they reached.',
    labelNames: ['chain', 'state'],
    registers,
  })
  const judgements = new Counter({
    name: 'purser_rule_judgements_total',
    help: 'Operations by how the rules of ERC-7562 judged them.',
    labelNames: ['chain', 'outcome'],
    registers,
  })
  const validations = new Counter({
    name: 'purser_validations_total',
    help: 'Validations by where they ran: in our EVM, traced by the node, or only outlined by it.',
    labelNames: ['chain', 'engine'],
    registers,
  })
  const comparisons = new Counter({
    name: 'purser_validations_compared_total',
    help: 'Validations of our EVM by how their comparison with the node ended.',
    labelNames: ['chain', 'outcome'],
    registers,
  })
  const bundlesCompared = new Counter({
    name: 'purser_bundle_gas_compared_total',
    help: 'Mined bundles by how the gas of their staked entities compares with its validation.',
    labelNames: ['chain', 'outcome'],
    registers,
  })
  let pool: () => Promise<readonly PoolSize[]> = async () => []
  new Gauge({
    name: 'purser_pool_operations',
    help: 'Operations in the pool and in open bundles.',
    labelNames: ['chain', 'state'],
    registers,
    async collect() {
      this.reset()
      for (const { chain, state, operations } of await pool()) {
        this.set({ chain, state }, operations)
      }
    },
  })

  return {
    call(method, code, seconds) {
      calls.inc({ method, code })
      durations.observe({ method }, seconds)
    },
    request: (route, status) => requests.inc({ route, status: String(status) }),
    limited: (limit) => limits.inc({ limit }),
    webhook: (outcome, milliseconds) => webhookCalls.observe({ outcome }, milliseconds / 1_000),
    circuitOpened: () => circuits.inc(),
    delivery: (outcome) => deliveries.inc({ outcome }),
    bundle: (chainId, state) => bundles.inc({ chain: String(chainId), state }),
    judged: (chainId, how) => judgements.inc({ chain: String(chainId), outcome: how }),
    validated: (chainId, by) => validations.inc({ chain: String(chainId), engine: by }),
    compared: (chainId, outcome) => comparisons.inc({ chain: String(chainId), outcome }),
    gasCompared: (chainId, outcome) => bundlesCompared.inc({ chain: String(chainId), outcome }),
    onScrape: (given) => {
      pool = given
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
