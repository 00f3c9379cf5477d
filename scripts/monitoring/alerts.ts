import { series } from './series.js'

/** A series of a rule test in the notation of promtool, such as `0+1x20`. */
type TestSeries = { readonly series: string; readonly values: string }

export type Alert = {
  readonly name: string
  readonly expr: string
  /** How long the expression holds before the alert fires. */
  readonly after: string
  /** `page`: a person is called at any hour. */
  readonly severity: 'page' | 'warn'
  readonly summary: string
  /** One sample each 15 s; the alert fires `at` this time. */
  readonly firing: readonly TestSeries[]
  /** The same in health; nothing fires at that time. */
  readonly quiet: readonly TestSeries[]
  readonly at: string
}

const CHAIN = 'chain="1"'

function samples(selector: string, values: string): TestSeries {
  return { series: selector, values }
}

const ended = series('purser_operations_total')
const fallen = series('purser_operations_total', { outcome: '=~"failed|dropped"' })
const inclusion = series('purser_operation_inclusion_seconds_bucket')
const deliveries = series('purser_event_deliveries_total')
const refused = series('purser_rpc_calls_total', { code: '!="ok"' })
const calls = series('purser_rpc_calls_total')

const service: readonly Alert[] = [
  {
    name: 'PurserDown',
    expr: `absent(${series('purser_build_info')})`,
    after: '2m',
    severity: 'page',
    summary: 'Prometheus scrapes no process of Purser.',
    // What is not read any more counts for five minutes.
    firing: [samples('purser_build_info{version="1"}', '1x4')],
    quiet: [
      samples('purser_build_info{version="1", instance="a"}', '1x4'),
      samples('purser_build_info{version="1", instance="b"}', '1x60'),
    ],
    at: '12m',
  },
  {
    name: 'PurserInclusionSlow',
    expr: `histogram_quantile(0.95, sum by (chain, le) (rate(${inclusion}[10m]))) > 30`,
    after: '10m',
    severity: 'warn',
    summary: 'One in twenty operations on chain {{ $labels.chain }} waits longer than 30 s.',
    firing: [
      samples(`purser_operation_inclusion_seconds_bucket{${CHAIN}, le="30"}`, '0+1x120'),
      samples(`purser_operation_inclusion_seconds_bucket{${CHAIN}, le="60"}`, '0+4x120'),
      samples(`purser_operation_inclusion_seconds_bucket{${CHAIN}, le="+Inf"}`, '0+4x120'),
    ],
    quiet: [
      samples(`purser_operation_inclusion_seconds_bucket{${CHAIN}, le="30"}`, '0+4x120'),
      samples(`purser_operation_inclusion_seconds_bucket{${CHAIN}, le="60"}`, '0+4x120'),
      samples(`purser_operation_inclusion_seconds_bucket{${CHAIN}, le="+Inf"}`, '0+4x120'),
    ],
    at: '25m',
  },
  {
    name: 'PurserOperationsFail',
    expr: `sum by (chain) (rate(${fallen}[15m])) / sum by (chain) (rate(${ended}[15m])) > 0.1`,
    after: '15m',
    severity: 'warn',
    summary:
      'More than a tenth of the operations on chain {{ $labels.chain }} fail or are dropped.',
    firing: [
      samples(`purser_operations_total{${CHAIN}, outcome="included"}`, '0+4x160'),
      samples(`purser_operations_total{${CHAIN}, outcome="dropped"}`, '0+1x160'),
    ],
    quiet: [
      samples(`purser_operations_total{${CHAIN}, outcome="included"}`, '0+40x160'),
      samples(`purser_operations_total{${CHAIN}, outcome="dropped"}`, '0+1x160'),
    ],
    at: '35m',
  },
  {
    name: 'PurserInternalErrors',
    expr: `sum by (api) (rate(${series('purser_internal_errors_total')}[5m])) > 0`,
    after: '5m',
    severity: 'page',
    summary: 'Requests to the {{ $labels.api }} API are answered with internal errors.',
    firing: [samples('purser_internal_errors_total{api="rpc"}', '0+1x60')],
    quiet: [samples('purser_internal_errors_total{api="rpc"}', '7+0x60')],
    at: '12m',
  },
  {
    name: 'PurserRefusalsJump',
    expr: `sum(rate(${refused}[10m])) / sum(rate(${calls}[10m])) > 0.5 and sum(rate(${refused}[10m])) > 3 * sum(rate(${refused}[10m] offset 1h))`,
    after: '10m',
    severity: 'warn',
    summary: 'Most calls are rejected, three times as many as an hour ago.',
    firing: [
      samples('purser_rpc_calls_total{method="m", code="ok"}', '0+4x400'),
      samples('purser_rpc_calls_total{method="m", code="-32500"}', '0+1x320 320+20x80'),
    ],
    quiet: [
      samples('purser_rpc_calls_total{method="m", code="ok"}', '0+4x400'),
      samples('purser_rpc_calls_total{method="m", code="-32500"}', '0+1x400'),
    ],
    at: '99m',
  },
]

const bundling: readonly Alert[] = [
  {
    name: 'PurserNoBundler',
    expr: `max by (chain) (${series('purser_lease_held')}) == 0 and on (chain) max by (chain) (${series('purser_pool_operations', { state: '="pooled"' })}) > 0`,
    after: '1m',
    severity: 'page',
    summary: 'Operations wait on chain {{ $labels.chain }} and no process bundles them.',
    firing: [
      samples(`purser_lease_held{${CHAIN}}`, '0+0x40'),
      samples(`purser_pool_operations{${CHAIN}, state="pooled"}`, '3+0x40'),
    ],
    quiet: [
      samples(`purser_lease_held{${CHAIN}, instance="a"}`, '0+0x40'),
      samples(`purser_lease_held{${CHAIN}, instance="b"}`, '1+0x40'),
      samples(`purser_pool_operations{${CHAIN}, state="pooled"}`, '3+0x40'),
    ],
    at: '5m',
  },
  {
    name: 'PurserLeaseLost',
    expr: `increase(${series('purser_lease_lost_total')}[10m]) > 0`,
    after: '0m',
    severity: 'warn',
    summary: 'The bundler of chain {{ $labels.chain }} was paused, and another process took over.',
    firing: [samples(`purser_lease_lost_total{${CHAIN}}`, '0x20 1x20')],
    quiet: [samples(`purser_lease_lost_total{${CHAIN}}`, '2x40')],
    at: '6m',
  },
  {
    name: 'PurserExecutorsPaused',
    expr: `max by (chain) (${series('purser_executor_ready', { role: '="executor"' })}) == 0`,
    after: '2m',
    severity: 'page',
    summary: 'All executors of chain {{ $labels.chain }} lack funds: nothing is sent.',
    firing: [samples(`purser_executor_ready{${CHAIN}, executor="0x1", role="executor"}`, '0x40')],
    quiet: [
      samples(`purser_executor_ready{${CHAIN}, executor="0x1", role="executor"}`, '0x40'),
      samples(`purser_executor_ready{${CHAIN}, executor="0x2", role="executor"}`, '1x40'),
    ],
    at: '5m',
  },
  {
    name: 'PurserTreasuryLow',
    expr: `min by (chain, executor) (${series('purser_executor_ready', { role: '="treasury"' })}) == 0`,
    after: '5m',
    severity: 'warn',
    summary: 'The treasury {{ $labels.executor }} on chain {{ $labels.chain }} cannot refill.',
    firing: [samples(`purser_executor_ready{${CHAIN}, executor="0x9", role="treasury"}`, '0x60')],
    quiet: [samples(`purser_executor_ready{${CHAIN}, executor="0x9", role="treasury"}`, '1x60')],
    at: '10m',
  },
  {
    name: 'PurserFeeCeilingReached',
    expr: `max by (chain) (${series('purser_fee_ceiling_reached')}) == 1`,
    after: '5m',
    severity: 'warn',
    summary: 'Gas on chain {{ $labels.chain }} costs more than the fee ceiling: operations wait.',
    firing: [samples(`purser_fee_ceiling_reached{${CHAIN}}`, '1x60')],
    quiet: [samples(`purser_fee_ceiling_reached{${CHAIN}}`, '1x8 0x52')],
    at: '10m',
  },
  {
    name: 'PurserBundlesLoseMoney',
    expr: `sum by (chain) (increase(${series('purser_bundle_cost_wei_total')}[1h])) > 1.5 * sum by (chain) (increase(${series('purser_bundle_earned_wei_total')}[1h]))`,
    after: '15m',
    severity: 'warn',
    summary: 'Bundles on chain {{ $labels.chain }} cost 50 % more than they earn.',
    firing: [
      samples(`purser_bundle_cost_wei_total{${CHAIN}}`, '0+2000000000x200'),
      samples(`purser_bundle_earned_wei_total{${CHAIN}}`, '0+1000000000x200'),
    ],
    quiet: [
      samples(`purser_bundle_cost_wei_total{${CHAIN}}`, '0+1000000000x200'),
      samples(`purser_bundle_earned_wei_total{${CHAIN}}`, '0+1100000000x200'),
    ],
    at: '45m',
  },
  {
    name: 'PurserBundleUncovered',
    expr: `sum by (chain) (increase(${series('purser_bundles_uncovered_total')}[1h])) > 0`,
    after: '0m',
    severity: 'page',
    summary: 'A bundle on chain {{ $labels.chain }} cost more than its operations were charged.',
    firing: [samples(`purser_bundles_uncovered_total{${CHAIN}, kind="charge"}`, '0+0x20 1+0x20')],
    quiet: [samples(`purser_bundles_uncovered_total{${CHAIN}, kind="charge"}`, '3+0x40')],
    at: '8m',
  },
  {
    name: 'PurserTankRunsOut',
    expr: `min by (app, chain) (${series('purser_tank_runway_seconds')}) < 86400`,
    after: '10m',
    severity: 'warn',
    summary: 'The balance of app {{ $labels.app }} on chain {{ $labels.chain }} ends within a day.',
    firing: [samples(`purser_tank_runway_seconds{${CHAIN}, app="a"}`, '34560x80')],
    quiet: [samples(`purser_tank_runway_seconds{${CHAIN}, app="a"}`, '777600x80')],
    at: '15m',
  },
  {
    name: 'PurserTankLow',
    expr: `max by (app, chain) (${series('purser_tank_low')}) == 1`,
    after: '5m',
    severity: 'warn',
    summary:
      'The balance of app {{ $labels.app }} on chain {{ $labels.chain }} is below its alert.',
    firing: [samples(`purser_tank_low{${CHAIN}, app="a"}`, '1x80')],
    quiet: [samples(`purser_tank_low{${CHAIN}, app="a"}`, '0x80')],
    at: '15m',
  },
]

const surroundings: readonly Alert[] = [
  {
    name: 'PurserPriceUnavailable',
    expr: `sum by (chain) (increase(${series('purser_decisions_total', { code: '="PRICE_UNAVAILABLE"' })}[10m])) > 0`,
    after: '10m',
    severity: 'warn',
    summary: 'Budgets in USD on chain {{ $labels.chain }} reject: there is no price of its coin.',
    firing: [samples(`purser_decisions_total{${CHAIN}, code="PRICE_UNAVAILABLE"}`, '0+1x80')],
    quiet: [
      samples(`purser_decisions_total{${CHAIN}, code="PRICE_UNAVAILABLE"}`, '3x80'),
      samples(`purser_decisions_total{${CHAIN}, code="SPONSORED"}`, '0+1x80'),
    ],
    at: '15m',
  },
  {
    name: 'PurserHeadStale',
    expr: `min by (chain) (${series('purser_head_age_seconds')}) > 30`,
    after: '2m',
    severity: 'page',
    summary: 'No process got a head of chain {{ $labels.chain }} for half a minute.',
    firing: [samples(`purser_head_age_seconds{${CHAIN}}`, '45x40')],
    quiet: [
      samples(`purser_head_age_seconds{${CHAIN}, instance="a"}`, '45x40'),
      samples(`purser_head_age_seconds{${CHAIN}, instance="b"}`, '2x40'),
    ],
    at: '5m',
  },
  {
    name: 'PurserChainUnavailable',
    expr: `max by (chain) (${series('purser_chain_served')}) == 0`,
    after: '5m',
    severity: 'page',
    summary: 'Chain {{ $labels.chain }} is configured, and no process serves it.',
    firing: [samples(`purser_chain_served{${CHAIN}}`, '0x60')],
    quiet: [samples(`purser_chain_served{${CHAIN}}`, '1x60')],
    at: '10m',
  },
  {
    name: 'PurserIndexLags',
    expr: `min by (chain) (${series('purser_index_lag_blocks')}) > 20`,
    after: '5m',
    severity: 'warn',
    summary: 'Receipts on chain {{ $labels.chain }} are {{ $value }} blocks behind.',
    firing: [samples(`purser_index_lag_blocks{${CHAIN}}`, '0+1x80')],
    quiet: [samples(`purser_index_lag_blocks{${CHAIN}}`, '3x80')],
    at: '12m',
  },
  {
    name: 'PurserReorgDeep',
    // The bucket's label is 3 in Prometheus 2 and 3.0 since Prometheus 3.
    expr: `sum by (chain) (increase(${series('purser_reorg_depth_blocks_count')}[1h])) - sum by (chain) (increase(${series('purser_reorg_depth_blocks_bucket', { le: '=~"3|3.0"' })}[1h])) > 0.5`,
    after: '0m',
    severity: 'warn',
    summary: 'Chain {{ $labels.chain }} replaced more than three blocks at once.',
    firing: [
      samples(`purser_reorg_depth_blocks_count{${CHAIN}}`, '0x20 1x20'),
      samples(`purser_reorg_depth_blocks_bucket{${CHAIN}, le="3"}`, '0x40'),
    ],
    quiet: [
      samples(`purser_reorg_depth_blocks_count{${CHAIN}}`, '0x20 1x20'),
      samples(`purser_reorg_depth_blocks_bucket{${CHAIN}, le="3"}`, '0x20 1x20'),
    ],
    at: '7m',
  },
  {
    name: 'PurserDataFeeDiffers',
    expr: `sum by (chain) (increase(${series('purser_data_fee_compared_total', { outcome: '="differs"' })}[2h])) > 0`,
    after: '5m',
    severity: 'warn',
    summary:
      'The node of chain {{ $labels.chain }} estimates another data fee than Purser computes.',
    firing: [
      samples(`purser_data_fee_compared_total{${CHAIN}, outcome="differs"}`, '0+0x10 1+0x60'),
    ],
    quiet: [samples(`purser_data_fee_compared_total{${CHAIN}, outcome="agrees"}`, '0+1x70')],
    at: '12m',
  },
  {
    name: 'PurserEngineDiffers',
    expr: `increase(${series('purser_validations_compared_total', { outcome: '="differs"' })}[1h]) > 0`,
    after: '0m',
    severity: 'page',
    summary: 'Our EVM and the node of chain {{ $labels.chain }} disagree about a validation.',
    firing: [
      samples(`purser_validations_compared_total{${CHAIN}, outcome="differs"}`, '0x20 1x20'),
    ],
    quiet: [samples(`purser_validations_compared_total{${CHAIN}, outcome="agrees"}`, '0+5x40')],
    at: '7m',
  },
  {
    name: 'PurserReadSetDiffers',
    expr: `increase(${series('purser_validations_recalled_total', { outcome: '="differs"' })}[1h]) > 0`,
    after: '0m',
    severity: 'page',
    summary: 'A validation on chain {{ $labels.chain }} had another result on the same state.',
    firing: [
      samples(`purser_validations_recalled_total{${CHAIN}, outcome="differs"}`, '0x20 1x20'),
    ],
    quiet: [samples(`purser_validations_recalled_total{${CHAIN}, outcome="same"}`, '0+5x40')],
    at: '7m',
  },
  {
    name: 'PurserCircuitOpened',
    expr: `increase(${series('purser_webhook_circuits_opened_total')}[10m]) > 0`,
    after: '0m',
    severity: 'warn',
    summary: "A webhook's circuit breaker opened: it is not called for a while.",
    firing: [samples('purser_webhook_circuits_opened_total', '0x20 1x20')],
    quiet: [samples('purser_webhook_circuits_opened_total', '4x40')],
    at: '7m',
  },
  {
    name: 'PurserDeliveriesFail',
    expr: `1 - sum(rate(${series('purser_event_deliveries_total', { outcome: '="delivered"' })}[30m])) / sum(rate(${deliveries}[30m])) > 0.5`,
    after: '30m',
    severity: 'warn',
    summary: 'More than half of the attempts to deliver events fail.',
    firing: [
      samples('purser_event_deliveries_total{outcome="delivered"}', '0+1x280'),
      samples('purser_event_deliveries_total{outcome="timeout"}', '0+3x280'),
    ],
    quiet: [
      samples('purser_event_deliveries_total{outcome="delivered"}', '0+3x280'),
      samples('purser_event_deliveries_total{outcome="timeout"}', '0+1x280'),
    ],
    at: '65m',
  },
  {
    name: 'PurserDatabaseSlow',
    expr: `min_over_time(${series('purser_db_pool_waiting')}[2m]) > 5`,
    after: '2m',
    severity: 'page',
    summary: 'Requests of {{ $labels.instance }} wait for a connection to the database.',
    firing: [samples('purser_db_pool_waiting{instance="a"}', '20x40')],
    quiet: [samples('purser_db_pool_waiting{instance="a"}', '0 9 0 9 0 9 0 9 0x32')],
    at: '6m',
  },
]

/** Every alert, by what it watches. */
export const alertGroups: Readonly<Record<string, readonly Alert[]>> = {
  'purser-service': service,
  'purser-bundling': bundling,
  'purser-surroundings': surroundings,
}

export const alerts: readonly Alert[] = Object.values(alertGroups).flat()
