import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import { schemaVersion, version } from '../base/version.js'
import type { DataFeeCompared } from '../bundling/createDataFeeWatch.js'
import type { GasCompared } from '../bundling/createGasWatch.js'
import type { LimitName } from '../errors/limitErrors.js'
import type { ValidatedBy } from '../validation/chainEngine.js'
import type { Compared } from '../validation/nodeWatch.js'
import type { RuleOutcome } from '../validation/requireRules.js'
import type { WebhookOutcome } from '../webhook/approval.js'
import { decisionCodes } from './catalogue.js'
import { createInstruments, type Reading } from './instruments.js'

/**
 * The counters of the process. A method is called when its event has happened; callbacks for it are
 * named `on` and the method. `catalogue` names every metric.
 */
export type Metrics = {
  /** The counters of a chain begin at 0, so that the first event is a rise. */
  startChain(chainId: number): void
  /** @param code `ok`, or the JSON-RPC code of the refusal */
  call(method: string, code: string, seconds: number): void
  /** @param route of the route table, never the path of the request */
  request(route: string, status: number): void
  limited(limit: LimitName): void
  /** Refusals of calls that are not recorded, because there were too many. */
  refusalsLost(count: number): void
  /** A sponsorship or token payment was decided about. */
  decided(chainId: number, code: string): void
  /** A webhook was asked for its approval, or the call was not made. */
  approvalCalled(outcome: WebhookOutcome, milliseconds: number): void
  /** A webhook failed so often that it is not called for a while. */
  circuitOpened(): void
  /** An event was sent to its subscription, with success or not. */
  deliveryAttempted(outcome: DeliveryOutcome): void
  /** An operation was included or left the pool, `seconds` after it was received. */
  operationEnded(chainId: number, outcome: OperationOutcomeName, seconds: number): void
  /** An included operation cost its sponsor `wei`. */
  spent(chainId: number, mode: SpendMode, wei: bigint): void
  /** A bundle reached its final state. */
  bundleEnded(chainId: number, state: BundleEnd): void
  /** A bundle was mined: wei that it cost the executor, and that it earned. */
  bundlePaid(chainId: number, cost: bigint, earned: bigint): void
  bundleReplaced(chainId: number, kind: 'raised' | 'cancel'): void
  /** A relay answered to a bundle, or the bundle was taken back from it or sent publicly after all. */
  relayed(chainId: number, outcome: RelayOutcome): void
  /** Another process has taken the bundling over. */
  leaseLost(chainId: number): void
  /** Indexed blocks were replaced. */
  reorganised(chainId: number, depth: number): void
  /** A node was asked; `method` is one of ours, or `batch`. */
  nodeAsked(chainId: number, exchange: NodeExchanged): void
  /** An operation was checked by the rules of ERC-7562. */
  rulesChecked(chainId: number, outcome: RuleOutcome): void
  /** An operation was validated. */
  validated(chainId: number, by: ValidatedBy): void
  /** A validation of our EVM was compared with the node. */
  compared(chainId: number, outcome: Compared): void
  /** A mined bundle with staked entities was compared with its validation (EREP-070). */
  gasCompared(chainId: number, outcome: GasCompared): void
  /** Our data fee was compared with the node's estimate. */
  dataFeeCompared(chainId: number, outcome: DataFeeCompared): void
  /** Sets the source of the gauges, which is read at each scrape. */
  readWith(read: () => Promise<readonly Reading[]>): void
  /** The text format of Prometheus. */
  text(): Promise<string>
  readonly contentType: string
}

type RelayOutcome = 'taken' | 'refused' | 'silent' | 'withdrawn' | 'published'
type BundleEnd = 'included' | 'reverted' | 'abandoned' | 'cancelled'
type OperationOutcomeName = 'included' | 'failed' | 'dropped' | 'replaced'
type SpendMode = 'tank' | 'shared' | 'native' | 'token'
type DeliveryOutcome =
  | 'delivered'
  | Exclude<WebhookOutcome, 'approved' | 'denied' | 'invalid_json' | 'circuit_open' | 'overloaded'>

/** One exchange with a node. */
type NodeExchanged = {
  readonly node: string
  readonly method: string
  readonly outcome: 'answered' | 'failed'
  readonly seconds: number
}

const INTERNAL_ERROR = '-32603'

/** Sums of prom-client's that end as counters do and are none; the same names without `_total` have them by kind. */
const misnamedGauges = ['resources', 'handles', 'requests'].map(
  (kind) => `nodejs_active_${kind}_total`,
)

/** The other processes of a group that shares one listener, as one of them sees them. */
export type Siblings = {
  /** Of this process; its metrics have the label `process` with it. */
  readonly number: number
  /** Their metrics, one list for each. */
  readOthers(): Promise<readonly object[]>
  /** Sets what this process answers when another one asks. */
  answerWith(read: () => Promise<readonly object[]>): void
}

const buildInfo: Reading = {
  name: 'purser_build_info',
  labels: { version, schema: schemaVersion },
  value: 1,
}

/** @param siblings whose metrics are on the same page */
export function createMetrics(siblings?: Siblings): Metrics {
  const registry = new Registry()
  if (siblings) registry.setDefaultLabels({ process: String(siblings.number) })
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  const { count, observe, set, startChain } = createInstruments(registry)
  let readGauges = async (): Promise<readonly Reading[]> => []
  const readAll = async (): Promise<void> => set([...(await readGauges()), buildInfo])
  const readOwn = async (): Promise<readonly object[]> => {
    await readAll()
    return registry.getMetricsAsJSON()
  }
  set([buildInfo])
  siblings?.answerWith(readOwn)

  return {
    startChain,
    call(method, code, seconds) {
      const isInternal = code === INTERNAL_ERROR
      count('purser_rpc_calls_total', { method, code })
      if (isInternal) count('purser_internal_errors_total', { api: 'rpc' })
      const outcome = code === 'ok' ? 'ok' : isInternal ? 'failed' : 'refused'
      observe('purser_rpc_duration_seconds', { method, outcome }, seconds)
    },
    request(route, status) {
      count('purser_rest_requests_total', { route, status: String(status) })
      if (status === 500) count('purser_internal_errors_total', { api: 'rest' })
    },
    limited: (limit) => count('purser_rate_limited_total', { limit }),
    refusalsLost: (lost) => count('purser_refusals_unrecorded_total', {}, lost),
    decided(chainId, code) {
      const known = decisionCodes.find((each) => each === code) ?? 'OTHER'
      count('purser_decisions_total', { chain: String(chainId), code: known })
    },
    approvalCalled: (outcome, milliseconds) =>
      observe('purser_webhook_duration_seconds', { outcome }, milliseconds / 1_000),
    circuitOpened: () => count('purser_webhook_circuits_opened_total', {}),
    deliveryAttempted: (outcome) => count('purser_event_deliveries_total', { outcome }),
    operationEnded(chainId, outcome, seconds) {
      const chain = String(chainId)
      count('purser_operations_total', { chain, outcome })
      if (outcome === 'included' || outcome === 'failed')
        observe('purser_operation_inclusion_seconds', { chain }, seconds)
    },
    spent: (chainId, mode, wei) =>
      count('purser_spend_wei_total', { chain: String(chainId), mode }, Number(wei)),
    bundleEnded: (chainId, state) =>
      count('purser_bundles_total', { chain: String(chainId), state }),
    bundlePaid(chainId, cost, earned) {
      const chain = String(chainId)
      count('purser_bundle_cost_wei_total', { chain }, Number(cost))
      count('purser_bundle_earned_wei_total', { chain }, Number(earned))
    },
    bundleReplaced: (chainId, kind) =>
      count('purser_bundle_replacements_total', { chain: String(chainId), kind }),
    relayed: (chainId, outcome) =>
      count('purser_relay_bundles_total', { chain: String(chainId), outcome }),
    leaseLost: (chainId) => count('purser_lease_lost_total', { chain: String(chainId) }),
    reorganised: (chainId, depth) =>
      observe('purser_reorg_depth_blocks', { chain: String(chainId) }, depth),
    nodeAsked: (chainId, { node, method, outcome, seconds }) =>
      observe(
        'purser_node_request_duration_seconds',
        { chain: String(chainId), node, method, outcome },
        seconds,
      ),
    rulesChecked: (chainId, outcome) =>
      count('purser_rule_judgements_total', { chain: String(chainId), outcome }),
    validated: (chainId, engine) =>
      count('purser_validations_total', { chain: String(chainId), engine }),
    compared: (chainId, outcome) =>
      count('purser_validations_compared_total', { chain: String(chainId), outcome }),
    gasCompared: (chainId, outcome) =>
      count('purser_bundle_gas_compared_total', { chain: String(chainId), outcome }),
    dataFeeCompared: (chainId, outcome) =>
      count('purser_data_fee_compared_total', { chain: String(chainId), outcome }),
    readWith: (read) => {
      readGauges = read
    },
    async text() {
      if (siblings === undefined) {
        await readAll()
        return registry.metrics()
      }
      const [own, others] = await Promise.all([readOwn(), siblings.readOthers()])
      return AggregatorRegistry.aggregate([own, ...others]).metrics()
    },
    contentType: registry.contentType,
  }
}
