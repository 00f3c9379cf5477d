import { refusalCodes, tokenRefusalCodes } from '../errors/catalogue.js'

const CHAIN = 'id of a configured chain'
const callBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const stageBuckets = [0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 2, 5, 10, 30, 60, 300]
const inclusionBuckets = [0.5, 1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 120, 300, 900]
const outboundFailures = [
  'timeout',
  'dns_error',
  'connect_error',
  'tls_error',
  'http_status',
  'redirect',
  'invalid_response',
  'too_large',
  'blocked_address',
] as const

/** Codes of decisions that no refusal has. */
const grantCodes = ['SPONSORED', 'TOKEN_PAYMENT', 'ESTIMATION_FAILED', 'OTHER'] as const
type RefusedCode = keyof typeof refusalCodes | keyof typeof tokenRefusalCodes

type DecisionCode = RefusedCode | (typeof grantCodes)[number]

const decisionCodes: readonly DecisionCode[] = [
  ...grantCodes,
  ...(Object.keys({ ...refusalCodes, ...tokenRefusalCodes }) as RefusedCode[]),
]

/** The code by which a decision is counted: `OTHER` for one that is not listed. */
export function countedCode(code: string): DecisionCode {
  return decisionCodes.find((each) => each === code) ?? 'OTHER'
}

/**
 * Every metric of Purser, once: the registry, docs/operate/metrics.md, the board and the alerts are made from it.
 * Those of the process and of Node (`process_*`, `nodejs_*`) come from prom-client.
 */
export const catalogue = {
  purser_build_info: {
    kind: 'gauge',
    help: 'The running version; always 1.',
    meaning: 'Two versions: an upgrade is incomplete.',
    labels: {
      version: 'package version',
      schema: 'last migration that it knows',
    },
  },
  purser_operation_inclusion_seconds: {
    kind: 'histogram',
    help: 'Seconds from receipt of an operation to its inclusion.',
    meaning: 'The service level indicator. A reorg counts an operation twice.',
    labels: { chain: CHAIN },
    buckets: inclusionBuckets,
  },
  purser_operation_stage_seconds: {
    kind: 'histogram',
    help: 'Seconds that an operation spent in each stage.',
    meaning:
      '`sponsor` and `send`: requests of the client; `bundle`: until a bundle is signed; `broadcast`: until its last transaction is signed; `seen`: until the block arrives; `receipt`: until the inclusion is stored.',
    labels: {
      chain: CHAIN,
      stage: ['sponsor', 'send', 'bundle', 'broadcast', 'seen', 'receipt'],
    },
    buckets: stageBuckets,
  },
  purser_operations_attributed_total: {
    kind: 'counter',
    help: 'Operations with an ERC-8021 data suffix, by its schema.',
    meaning: 'The history of an operation shows the codes.',
    labels: { chain: CHAIN, schema: ['canonical', 'custom', 'cbor'] },
  },
  purser_operations_total: {
    kind: 'counter',
    help: 'Operations by outcome.',
    meaning: '`failed`: included, its call reverted; `dropped`: left the pool without inclusion.',
    labels: { chain: CHAIN, outcome: ['included', 'failed', 'dropped', 'replaced'] },
  },
  purser_pool_operations: {
    kind: 'gauge',
    help: 'Operations in the pool and in open bundles.',
    meaning: 'The same in all replicas: take the maximum, not the sum.',
    labels: { chain: CHAIN, state: ['pooled', 'bundled'] },
  },
  purser_rpc_calls_total: {
    kind: 'counter',
    help: 'JSON-RPC calls by method and code.',
    meaning: 'Every code but `ok` is a rejection.',
    labels: {
      method: 'served method, or `unknown`',
      code: '`ok` or an error code',
    },
  },
  purser_rpc_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds per JSON-RPC call.',
    meaning: '`failed`: our own errors (-32603); `refused`: all others.',
    labels: { method: 'served method, or `unknown`', outcome: ['ok', 'refused', 'failed'] },
    buckets: callBuckets,
  },
  purser_rest_requests_total: {
    kind: 'counter',
    help: 'REST requests by route and HTTP status.',
    meaning: 'Administration and webhook management.',
    labels: { route: 'route', status: 'HTTP status' },
  },
  purser_internal_errors_total: {
    kind: 'counter',
    help: 'Requests that got an internal error.',
    meaning: 'Must not happen; the log has each.',
    labels: { api: ['rpc', 'rest'] },
  },
  purser_rate_limited_total: {
    kind: 'counter',
    help: 'Requests and calls rejected by a limit.',
    meaning: 'The limit is too low, or a client sends too much.',
    labels: {
      limit: [
        'key',
        'ip',
        'sender',
        'simulations',
        'heavySimulations',
        'authentication',
        'webhookTest',
        'changes',
        'keyQuota',
        'appQuota',
        'signIn',
        'passwords',
        'trials',
        'rehearsals',
        'streams',
        'waits',
        'sessions',
      ],
    },
  },
  purser_refusals_unrecorded_total: {
    kind: 'counter',
    help: 'Rejections not recorded: too many, or no database.',
    meaning: 'Lists do not show them.',
    labels: {},
  },
  purser_witnesses_total: {
    kind: 'counter',
    help: 'Runs whose state was to be kept, so that they can be replayed.',
    meaning:
      '`lost`: too many, or no database; `differs`: others of its block changed what it read; `unanswered`: the node had no state.',
    labels: { chain: CHAIN, outcome: ['kept', 'lost', 'differs', 'unanswered'] },
  },
  purser_decisions_total: {
    kind: 'counter',
    help: 'Decisions on sponsorships and token payments.',
    meaning: '`SPONSORED` and `TOKEN_PAYMENT` were granted, others rejected.',
    labels: { chain: CHAIN, code: decisionCodes },
  },
  purser_decisions_unrecorded_total: {
    kind: 'counter',
    help: "Rejected sponsorships not recorded: more than the app's share.",
    meaning: 'Lists do not show them.',
    labels: { chain: CHAIN },
  },
  purser_webhook_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds per approval call, by outcome.',
    meaning: 'Sponsorships wait for these calls.',
    labels: {
      outcome: [
        'approved',
        'denied',
        'invalid_json',
        'circuit_open',
        'overloaded',
        ...outboundFailures,
      ],
    },
    buckets: callBuckets,
  },
  purser_webhook_circuits_opened_total: {
    kind: 'counter',
    help: "Times that a webhook's circuit breaker opened.",
    meaning: 'Meanwhile its app sponsors nothing, unless `onFailure` is `approve`.',
    labels: {},
  },
  purser_event_deliveries_total: {
    kind: 'counter',
    help: 'Attempts to deliver events, by outcome.',
    meaning: 'Failed ones are repeated for days.',
    labels: { outcome: ['delivered', ...outboundFailures] },
  },
  purser_bundles_total: {
    kind: 'counter',
    help: 'Bundles by outcome.',
    meaning:
      '`reverted` ones cost our gas; operations of `abandoned` and `cancelled` ones are bundled again.',
    labels: { chain: CHAIN, state: ['included', 'reverted', 'abandoned', 'cancelled'] },
  },
  purser_bundle_replacements_total: {
    kind: 'counter',
    help: 'Replacements of stuck transactions.',
    meaning: '`raised`: with higher fees; `cancel`: without the bundle.',
    labels: { chain: CHAIN, kind: ['raised', 'cancel'] },
  },
  purser_relay_bundles_total: {
    kind: 'counter',
    help: 'Responses of the relay, and outcomes of relayed bundles.',
    meaning:
      '`silent`: no usable answer; `withdrawn`: cancelled for free; `published`: not included in time.',
    labels: {
      chain: CHAIN,
      outcome: ['taken', 'refused', 'silent', 'withdrawn', 'published'],
    },
  },
  purser_bundle_cost_wei_total: {
    kind: 'counter',
    help: 'Wei that mined bundles cost.',
    meaning: 'Compare with purser_bundle_earned_wei_total.',
    labels: { chain: CHAIN },
  },
  purser_bundle_earned_wei_total: {
    kind: 'counter',
    help: 'Wei that EntryPoints paid for mined bundles.',
    meaning: 'Below the cost it is a loss; `native` operations earn nothing.',
    labels: { chain: CHAIN },
  },
  purser_surplus_returned_wei_total: {
    kind: 'counter',
    help: "Wei returned to apps' own tanks for larger bundles than they paid for.",
    meaning: 'See docs/build/sponsorship.md.',
    labels: { chain: CHAIN },
  },
  purser_bundles_uncovered_total: {
    kind: 'counter',
    help: 'Mined bundles that their operations did not pay for.',
    meaning:
      'Must not happen. `charge`: gas cost more than was charged; `books`: the EntryPoint reports unknown operations.',
    labels: { chain: CHAIN, kind: ['charge', 'books'] },
  },
  purser_spend_wei_total: {
    kind: 'counter',
    help: 'Wei that sponsored operations cost, by payer.',
    meaning:
      "`tank`: the app's tank; `shared`: the operator's; `native`: no paymaster; `token`: a token tank.",
    labels: { chain: CHAIN, mode: ['tank', 'shared', 'native', 'token'] },
  },
  purser_tank_available_wei: {
    kind: 'gauge',
    help: 'Unreserved wei of a tank or credit.',
    meaning: 'The lowest of an app on a chain, if it has an alert.',
    labels: { chain: CHAIN, app: 'app id or `operator` (per chain the 100 whose funds end first)' },
  },
  purser_tank_low: {
    kind: 'gauge',
    help: '1 while a tank or credit is below its alert.',
    meaning: 'The app also gets the event `tank.low`.',
    labels: { chain: CHAIN, app: 'app id or `operator` (per chain the 100 whose funds end first)' },
  },
  purser_tank_runway_seconds: {
    kind: 'gauge',
    help: "Seconds that a tank or credit lasts at last week's pace.",
    meaning: 'Absent if nothing is spent.',
    labels: { chain: CHAIN, app: 'app id or `operator` (per chain the 100 whose funds end first)' },
  },
  purser_executor_balance_wei: {
    kind: 'gauge',
    help: 'Balance of an executor or the treasury.',
    meaning: 'Below `executorMinBalance` an executor is paused.',
    labels: { chain: CHAIN, executor: 'address of a configured key' },
  },
  purser_executor_ready: {
    kind: 'gauge',
    help: '1 if an executor or the treasury has enough funds, else 0.',
    meaning: 'Without a ready executor nothing is sent.',
    labels: {
      chain: CHAIN,
      executor: 'address of a configured key',
      role: ['executor', 'treasury'],
    },
  },
  purser_executor_in_flight: {
    kind: 'gauge',
    help: 'Pending transactions of an executor.',
    meaning: 'At most four.',
    labels: { chain: CHAIN, executor: 'address of a configured key' },
  },
  purser_fee_ceiling_reached: {
    kind: 'gauge',
    help: '1 while fees are above `feeCeiling`, else 0.',
    meaning: 'Operations wait meanwhile. Absent without a ceiling.',
    labels: { chain: CHAIN },
  },
  purser_signing_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds until a key service signed a transaction.',
    meaning: '`failed`: no signature in time; the next service of `anyOf` is asked.',
    labels: {
      chain: CHAIN,
      service: ['kms', 'gcp', 'azure', 'turnkey', 'web3signer', 'jsonRpc'],
      outcome: ['signed', 'failed'],
    },
    buckets: callBuckets,
  },
  purser_lease_held: {
    kind: 'gauge',
    help: '1 if this process bundles the chain, else 0.',
    meaning: 'Exactly one process should report 1.',
    labels: { chain: CHAIN },
  },
  purser_lease_lost_total: {
    kind: 'counter',
    help: 'Times that another process took over bundling.',
    meaning: 'This process was paused or had no database.',
    labels: { chain: CHAIN },
  },
  purser_head_age_seconds: {
    kind: 'gauge',
    help: 'Seconds since nodes last reported their head.',
    meaning: 'A stale head stops admissions and bundles.',
    labels: { chain: CHAIN },
  },
  purser_head_block: {
    kind: 'gauge',
    help: 'Number of the head.',
    meaning: 'If only it stands still, the chain has stopped.',
    labels: { chain: CHAIN },
  },
  purser_index_lag_blocks: {
    kind: 'gauge',
    help: 'Blocks between the head and the last indexed block.',
    meaning: 'Receipts and ledger are that far behind.',
    labels: { chain: CHAIN },
  },
  purser_reorg_depth_blocks: {
    kind: 'histogram',
    help: 'Indexed blocks that a reorg replaced.',
    meaning: 'Must stay below `finalityDepth`.',
    labels: { chain: CHAIN },
    buckets: [1, 2, 3, 5, 10, 20, 50, 100],
  },
  purser_node_request_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds per exchange with a node.',
    meaning: '`failed`: no usable answer.',
    labels: {
      chain: CHAIN,
      node: 'host and port of a configured URL',
      method: 'method, or `batch`',
      outcome: ['answered', 'failed'],
    },
    buckets: callBuckets,
  },
  purser_broadcasts_total: {
    kind: 'counter',
    help: 'Responses of nodes to our transactions.',
    meaning:
      '`first`: accepted it before all others; `later`: after one. Replace a node that is mostly `refused` or `silent`.',
    labels: {
      chain: CHAIN,
      node: 'host and port of a configured URL',
      outcome: ['first', 'later', 'refused', 'silent'],
    },
  },
  purser_node_paused: {
    kind: 'gauge',
    help: '1 while a node that failed is paused, else 0.',
    meaning: 'If all are paused, one is asked anyway.',
    labels: { chain: CHAIN, node: 'host and port of a configured URL' },
  },
  purser_chain_served: {
    kind: 'gauge',
    help: '1 if the chain is served, 0 if its node has not answered since the start.',
    meaning: 'At 0 its other metrics are absent.',
    labels: { chain: CHAIN },
  },
  purser_fork_time_seconds: {
    kind: 'gauge',
    help: 'Unix time of the next announced fork.',
    meaning: 'Absent without one; see docs/understand/forks.md.',
    labels: { chain: CHAIN, fork: 'fork that our EVM runs' },
  },
  purser_rule_judgements_total: {
    kind: 'counter',
    help: 'Operations by ERC-7562 verdict.',
    meaning: 'See docs/understand/validation.md.',
    labels: { chain: CHAIN, outcome: ['judged', 'partly', 'violation', 'unjudged'] },
  },
  purser_rules_waived_total: {
    kind: 'counter',
    help: 'Operations accepted by `ruleExceptions`, by rule and entity.',
    meaning: 'See docs/understand/validation.md.',
    labels: {
      chain: CHAIN,
      rule: 'rule that an exception names',
      entity: 'address of an exception',
    },
  },
  purser_validations_total: {
    kind: 'counter',
    help: 'Validations by engine: our EVM, traced by the node, or its result only.',
    meaning: 'Many `trace` or `resultOnly`: our EVM cannot run the code.',
    labels: { chain: CHAIN, engine: ['inProcess', 'trace', 'resultOnly'] },
  },
  purser_validations_compared_total: {
    kind: 'counter',
    help: 'Comparisons of our EVM with the node.',
    meaning: '`differs` must not happen; the node then validates that code.',
    labels: { chain: CHAIN, outcome: ['agrees', 'differs', 'unanswered', 'skipped'] },
  },
  purser_validations_recalled_total: {
    kind: 'counter',
    help: 'Validations before a bundle, by whether the state that they read changed.',
    meaning: '`differs` must not happen: another result on the same state.',
    labels: { chain: CHAIN, outcome: ['same', 'changed', 'differs'] },
  },
  purser_bundle_gas_compared_total: {
    kind: 'counter',
    help: 'Mined bundles: gas of staked entities compared with validation.',
    meaning: '`saved`: an entity used less and was throttled (EREP-070).',
    labels: { chain: CHAIN, outcome: ['fair', 'saved', 'unanswered', 'skipped'] },
  },
  purser_data_fee_compared_total: {
    kind: 'counter',
    help: "Hourly comparisons of our data fee with the node's estimate (Arbitrum).",
    meaning: '`differs`: the chain changed its formula, or `calldataFloor` is wrong.',
    labels: { chain: CHAIN, outcome: ['agrees', 'differs', 'unanswered'] },
  },
  purser_db_pool_used: {
    kind: 'gauge',
    help: 'Database connections in use.',
    meaning: 'At most ten.',
    labels: {},
  },
  purser_db_pool_waiting: {
    kind: 'gauge',
    help: 'Requests that wait for a database connection.',
    meaning: 'More than a few: slow database or overload.',
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

export type MetricName = keyof typeof catalogue

/** A metric as it is declared; see `catalogue`. */
export type MetricDefinition = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** The text of the metrics page, a sentence. */
  readonly help: string
  /** The conclusion that an operator draws from it. */
  readonly meaning: string
  /** By label: all its values, or a sentence on what bounds them. A caller never chooses a value. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>
  /** Upper bounds of a histogram, in the unit of its name. */
  readonly buckets?: readonly number[]
}

/** The values of labels that a metric needs. */
export type LabelsOf<Definition extends MetricDefinition> = {
  readonly [Label in keyof Definition['labels']]: Definition['labels'][Label] extends readonly string[]
    ? Definition['labels'][Label][number]
    : string
}
