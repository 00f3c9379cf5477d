import { refusalCodes, tokenRefusalCodes } from '../errors/catalogue.js'

const CHAIN = 'the id of a configured chain'
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
    help: 'The version that runs; always 1.',
    meaning:
      'Two versions or schemas at once are an upgrade under way, or one that stopped half-way: a process of the smaller schema does not start again.',
    labels: {
      version: 'the version of the package',
      schema: 'the number of the last migration that it knows',
    },
  },
  purser_operation_inclusion_seconds: {
    kind: 'histogram',
    help: 'Seconds from the receipt of an operation until its inclusion was settled.',
    meaning:
      'The service level indicator: how long users wait. A reorganisation makes an operation count twice.',
    labels: { chain: CHAIN },
    buckets: inclusionBuckets,
  },
  purser_operation_stage_seconds: {
    kind: 'histogram',
    help: 'Seconds that an operation spent in each stage of its way.',
    meaning:
      '`sponsor` and `send` are the requests of the client; `bundle` lasts until a bundle with it is signed, `broadcast` until its last transaction is (fees are raised), `seen` until this process has its block, `receipt` until the inclusion is settled.',
    labels: {
      chain: CHAIN,
      stage: ['sponsor', 'send', 'bundle', 'broadcast', 'seen', 'receipt'],
    },
    buckets: stageBuckets,
  },
  purser_operations_attributed_total: {
    kind: 'counter',
    help: 'Operations accepted with a data suffix of ERC-8021, by its schema.',
    meaning:
      'The codes in the suffix are free text of the sender, so they are no label: the history shows them for each operation.',
    labels: { chain: CHAIN, schema: ['canonical', 'custom', 'cbor'] },
  },
  purser_operations_total: {
    kind: 'counter',
    help: 'Operations by how they ended.',
    meaning:
      '`failed` was included, and its call reverted; `dropped` left the pool without inclusion. Counted by the process that bundles.',
    labels: { chain: CHAIN, outcome: ['included', 'failed', 'dropped', 'replaced'] },
  },
  purser_pool_operations: {
    kind: 'gauge',
    help: 'Operations in the pool and in open bundles.',
    meaning:
      'Read from the database, so the same in all replicas: take the maximum, never the sum.',
    labels: { chain: CHAIN, state: ['pooled', 'bundled'] },
  },
  purser_rpc_calls_total: {
    kind: 'counter',
    help: 'JSON-RPC calls by method and code (ok or the error code).',
    meaning: 'Every code but `ok` is a refusal; docs/build/api.md lists the codes.',
    labels: {
      method: 'a served method, or `unknown`',
      code: '`ok`, or a code of the error catalogue',
    },
  },
  purser_rpc_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds that a JSON-RPC call took, by outcome.',
    meaning: '`failed` are errors of our own (-32603); `refused` all other errors.',
    labels: { method: 'a served method, or `unknown`', outcome: ['ok', 'refused', 'failed'] },
    buckets: callBuckets,
  },
  purser_rest_requests_total: {
    kind: 'counter',
    help: 'Requests to the REST APIs by route and HTTP status.',
    meaning: 'Administration and webhook management.',
    labels: { route: 'a route of the table', status: 'an HTTP status that we answer' },
  },
  purser_internal_errors_total: {
    kind: 'counter',
    help: 'Requests that were answered with an internal error.',
    meaning: 'Never expected: the log has each with its reference.',
    labels: { api: ['rpc', 'rest'] },
  },
  purser_rate_limited_total: {
    kind: 'counter',
    help: 'Requests and calls refused by a rate limit.',
    meaning: 'A limit that honest callers meet is too low, or someone is not honest.',
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
        'watchers',
        'waits',
        'sessions',
      ],
    },
  },
  purser_refusals_unrecorded_total: {
    kind: 'counter',
    help: 'Refusals that are not recorded, because there were too many or the database was unavailable.',
    meaning: 'Developers do not find these refusals when they look for them.',
    labels: {},
  },
  purser_decisions_total: {
    kind: 'counter',
    help: 'Decisions about sponsorships and token payments by code.',
    meaning: '`SPONSORED` and `TOKEN_PAYMENT` were granted, the others refused.',
    labels: { chain: CHAIN, code: decisionCodes },
  },
  purser_decisions_unrecorded_total: {
    kind: 'counter',
    help: "Refused sponsorships whose decisions are not recorded, because they were more than their app's share.",
    meaning: 'Developers do not find these decisions when they look for them.',
    labels: { chain: CHAIN },
  },
  purser_webhook_duration_seconds: {
    kind: 'histogram',
    help: 'Approval calls by outcome, and how long they took.',
    meaning: 'Sponsorships wait for the webhooks of their apps.',
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
    help: 'How often a webhook failed so much that it is left alone.',
    meaning: 'The app of that webhook sponsors nothing meanwhile, unless it approves on failure.',
    labels: {},
  },
  purser_event_deliveries_total: {
    kind: 'counter',
    help: 'Attempts to deliver an event by outcome.',
    meaning:
      'Failed attempts are repeated for days; many of them are a receiver that is unavailable.',
    labels: { outcome: ['delivered', ...outboundFailures] },
  },
  purser_bundles_total: {
    kind: 'counter',
    help: 'Bundles by the state they reached.',
    meaning: '`reverted` ones cost our gas; `abandoned` and `cancelled` ones go again.',
    labels: { chain: CHAIN, state: ['included', 'reverted', 'abandoned', 'cancelled'] },
  },
  purser_bundle_replacements_total: {
    kind: 'counter',
    help: 'Further transactions for the nonce of a stuck bundle.',
    meaning: '`raised` fees follow a rising base fee; `cancel` takes a bundle back.',
    labels: { chain: CHAIN, kind: ['raised', 'cancel'] },
  },
  purser_relay_bundles_total: {
    kind: 'counter',
    help: 'Answers of the relay to bundles, and what became of bundles that it had.',
    meaning:
      '`silent` is no answer or nonsense; `withdrawn` was taken back free of charge; `published` went to the public because the relay did not include it in time.',
    labels: {
      chain: CHAIN,
      outcome: ['taken', 'refused', 'silent', 'withdrawn', 'published'],
    },
  },
  purser_bundle_cost_wei_total: {
    kind: 'counter',
    help: 'Wei that mined bundles cost our executors.',
    meaning: 'To be compared with purser_bundle_earned_wei_total.',
    labels: { chain: CHAIN },
  },
  purser_bundle_earned_wei_total: {
    kind: 'counter',
    help: 'Wei that the EntryPoints paid for the operations of our mined bundles.',
    meaning: 'Less than the cost is a loss; operations with granted fees earn nothing here.',
    labels: { chain: CHAIN },
  },
  purser_surplus_returned_wei_total: {
    kind: 'counter',
    help: "Wei that went back to apps' own tanks because their bundles were larger than they paid for.",
    meaning: 'It comes from what the executors earned; see docs/build/sponsorship.md, The books.',
    labels: { chain: CHAIN },
  },
  purser_bundles_uncovered_total: {
    kind: 'counter',
    help: 'Mined bundles that their operations did not pay for.',
    meaning:
      '`charge`: the gas cost more than they were charged or granted; `books`: the EntryPoint reports operations that are in no book. Must not happen.',
    labels: { chain: CHAIN, kind: ['charge', 'books'] },
  },
  purser_spend_wei_total: {
    kind: 'counter',
    help: 'Wei that sponsored operations cost their payers.',
    meaning:
      '`tank` is the own tank of an app, `shared` that of the operator, `native` granted fees, `token` a tank that takes tokens.',
    labels: { chain: CHAIN, mode: ['tank', 'shared', 'native', 'token'] },
  },
  purser_tank_available_wei: {
    kind: 'gauge',
    help: 'Wei of a tank or credit that is not reserved.',
    meaning: 'The lowest of an app on a chain; of the funds with an alarm, those that end first.',
    labels: { chain: CHAIN, app: 'the id of an app, or `operator`; at most 100 on a chain' },
  },
  purser_tank_low: {
    kind: 'gauge',
    help: '1 while a tank or credit of the app is below its alarm.',
    meaning:
      'The alarm is in ether or in days, as the app has set it: the event tank.low says the same.',
    labels: { chain: CHAIN, app: 'the id of an app, or `operator`; at most 100 on a chain' },
  },
  purser_tank_runway_seconds: {
    kind: 'gauge',
    help: 'Seconds for which a tank or credit lasts at the pace of the last week.',
    meaning: 'Absent where nothing is spent: it lasts for ever.',
    labels: { chain: CHAIN, app: 'the id of an app, or `operator`; at most 100 on a chain' },
  },
  purser_executor_balance_wei: {
    kind: 'gauge',
    help: 'The balance of an executor or of the treasury.',
    meaning: 'Executors below their minimum rest; the treasury refills them.',
    labels: { chain: CHAIN, executor: 'the address of a configured key' },
  },
  purser_executor_ready: {
    kind: 'gauge',
    help: '1 where an executor or the treasury has enough money, else 0.',
    meaning: 'Without a ready executor nothing new is sent.',
    labels: {
      chain: CHAIN,
      executor: 'the address of a configured key',
      role: ['executor', 'treasury'],
    },
  },
  purser_executor_in_flight: {
    kind: 'gauge',
    help: 'Transactions of an executor whose outcome is not known yet.',
    meaning: 'At its limit an executor waits for the chain.',
    labels: { chain: CHAIN, executor: 'the address of a configured key' },
  },
  purser_fee_ceiling_reached: {
    kind: 'gauge',
    help: '1 while the chain asks for more than the `feeCeiling` of the configuration, else 0.',
    meaning: 'Nothing is sent meanwhile, and operations wait. Absent where there is no ceiling.',
    labels: { chain: CHAIN },
  },
  purser_signing_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds that a key service took to sign a transaction, by outcome.',
    meaning:
      '`failed` gave no signature of the key in time; the next service of `anyOf` is asked then.',
    labels: {
      chain: CHAIN,
      service: ['kms', 'gcp', 'azure', 'turnkey', 'web3signer', 'jsonRpc'],
      outcome: ['signed', 'failed'],
    },
    buckets: callBuckets,
  },
  purser_lease_held: {
    kind: 'gauge',
    help: '1 where bundling started in this process for the chain, else 0.',
    meaning: 'Exactly one process of all should say 1.',
    labels: { chain: CHAIN },
  },
  purser_lease_lost_total: {
    kind: 'counter',
    help: 'How often another process took the bundling over while this one held it.',
    meaning:
      'The process stood still or lost its database for longer than the lease; its writes were refused.',
    labels: { chain: CHAIN },
  },
  purser_head_age_seconds: {
    kind: 'gauge',
    help: 'Seconds since the nodes last reported their head.',
    meaning: 'A stale head stops admissions and bundles.',
    labels: { chain: CHAIN },
  },
  purser_head_block: {
    kind: 'gauge',
    help: 'The number of the head.',
    meaning: 'A head that does not grow while it is young is a chain that stands still.',
    labels: { chain: CHAIN },
  },
  purser_index_lag_blocks: {
    kind: 'gauge',
    help: 'Blocks between the head and the last indexed block.',
    meaning: 'Receipts and ledger are so far behind the chain.',
    labels: { chain: CHAIN },
  },
  purser_reorg_depth_blocks: {
    kind: 'histogram',
    help: 'Blocks that a reorganisation replaced, as far as they were indexed.',
    meaning: 'Deeper than `finalityDepth` it would undo what counts as final.',
    labels: { chain: CHAIN },
    buckets: [1, 2, 3, 5, 10, 20, 50, 100],
  },
  purser_node_request_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds that one exchange with a node took, by outcome.',
    meaning: '`failed` had no usable answer; several calls at once are the method `batch`.',
    labels: {
      chain: CHAIN,
      node: 'host and port of a configured URL',
      method: 'a method that we ask nodes, or `batch`',
      outcome: ['answered', 'failed'],
    },
    buckets: callBuckets,
  },
  purser_broadcasts_total: {
    kind: 'counter',
    help: 'Transactions of ours by how each node answered them.',
    meaning:
      'Every node gets each transaction: `first` is the share that a node accepted before all others, `later` what it accepted or knew then. A node that is mostly `refused` or `silent` helps nobody.',
    labels: {
      chain: CHAIN,
      node: 'host and port of a configured URL',
      outcome: ['first', 'later', 'refused', 'silent'],
    },
  },
  purser_node_paused: {
    kind: 'gauge',
    help: '1 where a node is not asked for a while because it failed, else 0.',
    meaning: 'With all nodes resting the one whose rest ends first is asked.',
    labels: { chain: CHAIN, node: 'host and port of a configured URL' },
  },
  purser_chain_served: {
    kind: 'gauge',
    help: '1 where the chain is served, 0 while its node has not answered since the start.',
    meaning: 'The other metrics of a chain that is not served are absent.',
    labels: { chain: CHAIN },
  },
  purser_fork_time_seconds: {
    kind: 'gauge',
    help: 'The time (Unix) of the change of rules that the chain announces, by the fork whose rules they are.',
    meaning: 'Absent where none is announced. Nothing is to do: see docs/understand/forks.md.',
    labels: { chain: CHAIN, fork: 'a fork that our EVM runs' },
  },
  purser_rule_judgements_total: {
    kind: 'counter',
    help: 'Operations by how the rules of ERC-7562 judged them.',
    meaning: 'docs/understand/validation.md explains the outcomes.',
    labels: { chain: CHAIN, outcome: ['judged', 'partly', 'violation', 'unjudged'] },
  },
  purser_validations_total: {
    kind: 'counter',
    help: 'Validations by where they ran: in our EVM, traced by the node, or only outlined by it.',
    meaning: 'Many `trace` or `outline` where our EVM is chosen mean that it cannot run the code.',
    labels: { chain: CHAIN, engine: ['inProcess', 'trace', 'outline'] },
  },
  purser_validations_compared_total: {
    kind: 'counter',
    help: 'Validations of our EVM by how their comparison with the node ended.',
    meaning: '`differs` must not happen: the code is left to the node from then on.',
    labels: { chain: CHAIN, outcome: ['agrees', 'differs', 'unanswered', 'skipped'] },
  },
  purser_validations_recalled_total: {
    kind: 'counter',
    help: 'Validations before a bundle by whether the state that they read is the same as the first time.',
    meaning: '`differs` must not happen: a run found something else on the same state.',
    labels: { chain: CHAIN, outcome: ['same', 'changed', 'differs'] },
  },
  purser_bundle_gas_compared_total: {
    kind: 'counter',
    help: 'Mined bundles by how the gas of their staked entities compares with its validation.',
    meaning: '`saved`: an entity used less gas in the bundle and was throttled (EREP-070).',
    labels: { chain: CHAIN, outcome: ['fair', 'saved', 'unanswered', 'skipped'] },
  },
  purser_data_fee_compared_total: {
    kind: 'counter',
    help: 'Hourly comparisons of our data fee with the estimate of the node (Arbitrum), by outcome.',
    meaning:
      '`differs`: the chain may have changed its formula, or has a floor price of calldata that `calldataFloor` denies, and operations pay too little or too much.',
    labels: { chain: CHAIN, outcome: ['agrees', 'differs', 'unanswered'] },
  },
  purser_db_pool_used: {
    kind: 'gauge',
    help: 'Connections to the database that are in use.',
    meaning: 'Of ten.',
    labels: {},
  },
  purser_db_pool_waiting: {
    kind: 'gauge',
    help: 'Requests that wait for a connection to the database.',
    meaning: 'More than a few for long: the database is slow, or the process has too much to do.',
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
