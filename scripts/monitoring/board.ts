import { catalogue, type MetricDefinition } from '../../src/base/metrics/catalogue.js'
import { type Alert, alerts } from './alerts.js'
import { runbookOf } from './rules.js'
import { series } from './series.js'

/** One line of a panel: what is asked, and the name of each answer. */
type Query = { readonly expr: string; readonly legend: string }

export type Panel = {
  readonly title: string
  readonly unit: 's' | 'ops' | 'short' | 'bytes' | 'percentunit' | 'wei'
  readonly queries: readonly Query[]
}

/** A single number, which is red from a bound on. */
type Stat = {
  readonly title: string
  readonly unit: Panel['unit']
  readonly expr: string
  readonly bad: readonly [bound: number, side: 'above' | 'below']
}

type Row = { readonly title: string; readonly panels: readonly Panel[] }

const chain = { chain: '=~"$chain"' } as const
const RATE = '[$__rate_interval]'

function quantile(share: number, by: string, buckets: string): string {
  return `histogram_quantile(${share}, sum by (le, ${by}) (rate(${buckets}${RATE})))`
}

function perSecond(by: string, selector: string): string {
  return `sum by (${by}) (rate(${selector}${RATE}))`
}

const inclusion = series('purser_operation_inclusion_seconds_bucket', chain)
const stages = series('purser_operation_stage_seconds_bucket', chain)
const rpcBuckets = series('purser_rpc_duration_seconds_bucket')
const nodeBuckets = series('purser_node_request_duration_seconds_bucket', chain)
const ended = series('purser_operations_total', chain)
const good = series('purser_operations_total', { ...chain, outcome: '="included"' })

/** The row of single numbers: whether all is well, at one look. */
const glance: readonly Stat[] = [
  {
    title: 'Chains that answer',
    unit: 'percentunit',
    expr: `avg(${series('purser_head_age_seconds', chain)} < bool 30)`,
    bad: [1, 'below'],
  },
  {
    title: 'Chains that are bundled',
    unit: 'percentunit',
    expr: `avg(max by (chain) (${series('purser_lease_held', chain)}))`,
    bad: [1, 'below'],
  },
  {
    title: 'Included and succeeded, 1 h',
    unit: 'percentunit',
    expr: `sum(increase(${good}[1h])) / sum(increase(${ended}[1h]))`,
    bad: [0.95, 'below'],
  },
  {
    title: 'Operations that wait',
    unit: 'short',
    expr: `sum(max by (chain) (${series('purser_pool_operations', { ...chain, state: '="pooled"' })}))`,
    bad: [1_000, 'above'],
  },
  {
    title: 'Tanks below their alert',
    unit: 'short',
    expr: `sum(max by (chain, app) (${series('purser_tank_low', chain)}))`,
    bad: [1, 'above'],
  },
  {
    title: 'Alerts that fire',
    unit: 'short',
    expr: 'count(ALERTS{alertname=~"Purser.*", alertstate="firing"}) or vector(0)',
    bad: [1, 'above'],
  },
]

const chosenRows: readonly Row[] = [
  {
    title: 'Service level',
    panels: [
      {
        title: 'Seconds until inclusion',
        unit: 's',
        queries: [0.5, 0.95, 0.99].map((share) => ({
          expr: quantile(share, 'chain', inclusion),
          legend: `p${share * 100} {{chain}}`,
        })),
      },
      {
        title: 'Seconds in each stage (p95)',
        unit: 's',
        queries: [{ expr: quantile(0.95, 'stage', stages), legend: '{{stage}}' }],
      },
      {
        title: 'Operations by end',
        unit: 'ops',
        queries: [{ expr: perSecond('outcome', ended), legend: '{{outcome}}' }],
      },
      {
        title: 'Share of operations that are included and succeed',
        unit: 'percentunit',
        queries: [
          {
            expr: `${perSecond('chain', good)} / ${perSecond('chain', ended)}`,
            legend: '{{chain}}',
          },
        ],
      },
      {
        title: 'Operations that wait',
        unit: 'short',
        queries: [
          {
            expr: `max by (chain, state) (${series('purser_pool_operations', chain)})`,
            legend: '{{chain}} {{state}}',
          },
          {
            expr: perSecond('chain, kind', series('purser_bundles_uncovered_total', chain)),
            legend: '{{chain}} not covered: {{kind}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Calls by method',
        unit: 'ops',
        queries: [
          { expr: perSecond('method', series('purser_rpc_calls_total')), legend: '{{method}}' },
        ],
      },
      {
        title: 'Refusals by method and code',
        unit: 'ops',
        queries: [
          {
            expr: perSecond('method, code', series('purser_rpc_calls_total', { code: '!="ok"' })),
            legend: '{{method}} {{code}}',
          },
        ],
      },
      {
        title: 'Duration of calls, p95',
        unit: 's',
        queries: [{ expr: quantile(0.95, 'method', rpcBuckets), legend: '{{method}}' }],
      },
      {
        title: 'REST requests by status',
        unit: 'ops',
        queries: [
          { expr: perSecond('status', series('purser_rest_requests_total')), legend: '{{status}}' },
        ],
      },
      {
        title: 'Refused by rate limits',
        unit: 'ops',
        queries: [
          { expr: perSecond('limit', series('purser_rate_limited_total')), legend: '{{limit}}' },
          {
            expr: perSecond('job', series('purser_refusals_unrecorded_total')),
            legend: 'not recorded',
          },
          {
            expr: perSecond('job', series('purser_decisions_unrecorded_total')),
            legend: 'decisions not recorded',
          },
        ],
      },
      {
        title: 'Internal errors',
        unit: 'ops',
        queries: [
          { expr: perSecond('api', series('purser_internal_errors_total')), legend: '{{api}}' },
        ],
      },
    ],
  },
  {
    title: 'Money',
    panels: [
      {
        title: 'Decisions',
        unit: 'ops',
        queries: [
          {
            expr: `${perSecond('code', series('purser_decisions_total', chain))} > 0`,
            legend: '{{code}}',
          },
        ],
      },
      {
        title: 'Operations with an attribution',
        unit: 'ops',
        queries: [
          {
            expr: perSecond('schema', series('purser_operations_attributed_total', chain)),
            legend: '{{schema}}',
          },
        ],
      },
      {
        title: 'Spent for operations',
        unit: 'wei',
        queries: [
          {
            expr: `sum by (chain, mode) (increase(${series('purser_spend_wei_total', chain)}[1h]))`,
            legend: '{{chain}} {{mode}}',
          },
          {
            expr: `sum by (chain) (increase(${series('purser_surplus_returned_wei_total', chain)}[1h]))`,
            legend: '{{chain}} returned',
          },
        ],
      },
      {
        title: 'Bundles: earned less cost, an hour',
        unit: 'wei',
        queries: [
          {
            expr: `sum by (chain) (increase(${series('purser_bundle_earned_wei_total', chain)}[1h])) - sum by (chain) (increase(${series('purser_bundle_cost_wei_total', chain)}[1h]))`,
            legend: '{{chain}}',
          },
        ],
      },
      {
        title: 'Tanks and credits: available',
        unit: 'wei',
        queries: [
          {
            expr: `min by (chain, app) (${series('purser_tank_available_wei', { ...chain, app: '=~"$app"' })})`,
            legend: '{{chain}} {{app}}',
          },
        ],
      },
      {
        title: 'Tanks and credits: time left',
        unit: 's',
        queries: [
          {
            expr: `min by (chain, app) (${series('purser_tank_runway_seconds', { ...chain, app: '=~"$app"' })})`,
            legend: '{{chain}} {{app}}',
          },
        ],
      },
      {
        title: 'Executors: balance',
        unit: 'wei',
        queries: [
          {
            expr: `max by (chain, executor) (${series('purser_executor_balance_wei', chain)})`,
            legend: '{{chain}} {{executor}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Bundler',
    panels: [
      {
        title: 'Bundles by end',
        unit: 'ops',
        queries: [
          {
            expr: perSecond('chain, state', series('purser_bundles_total', chain)),
            legend: '{{chain}} {{state}}',
          },
          {
            expr: perSecond('chain, kind', series('purser_bundle_replacements_total', chain)),
            legend: '{{chain}} replaced: {{kind}}',
          },
          {
            expr: perSecond('chain, outcome', series('purser_relay_bundles_total', chain)),
            legend: '{{chain}} relay: {{outcome}}',
          },
          {
            expr: `max by (chain) (${series('purser_fee_ceiling_reached', chain)})`,
            legend: '{{chain}} waits: fee ceiling',
          },
        ],
      },
      {
        title: 'Executors: in flight, and ready',
        unit: 'short',
        queries: [
          {
            expr: `max by (chain, executor) (${series('purser_executor_in_flight', chain)})`,
            legend: '{{chain}} {{executor}}',
          },
          {
            expr: `sum by (chain) (max by (chain, executor) (${series('purser_executor_ready', { ...chain, role: '="executor"' })}))`,
            legend: '{{chain}} ready',
          },
        ],
      },
      {
        title: 'Key services: signatures and failures per second',
        unit: 'short',
        queries: [
          {
            expr: perSecond(
              'chain, service, outcome',
              series('purser_signing_duration_seconds_count', chain),
            ),
            legend: '{{chain}} {{service}} {{outcome}}',
          },
        ],
      },
      {
        title: 'Who bundles',
        unit: 'short',
        queries: [
          { expr: series('purser_lease_held', chain), legend: '{{chain}} {{instance}}' },
          {
            expr: `increase(${series('purser_lease_lost_total', chain)}[1h])`,
            legend: '{{chain}} {{instance}} lost',
          },
        ],
      },
      {
        title: 'Index: blocks behind, and reorganisations',
        unit: 'short',
        queries: [
          {
            expr: `min by (chain) (${series('purser_index_lag_blocks', chain)})`,
            legend: '{{chain}} behind',
          },
          {
            expr: `sum by (chain) (increase(${series('purser_reorg_depth_blocks_count', chain)}[1h]))`,
            legend: '{{chain}} reorganisations an hour',
          },
        ],
      },
      {
        title: 'Rules, validations, comparisons',
        unit: 'ops',
        queries: [
          {
            expr: perSecond('outcome', series('purser_rule_judgements_total', chain)),
            legend: 'rules: {{outcome}}',
          },
          {
            expr: perSecond('rule', series('purser_rules_waived_total', chain)),
            legend: 'rules: {{rule}} waived',
          },
          {
            expr: perSecond('engine', series('purser_validations_total', chain)),
            legend: 'validated by {{engine}}',
          },
          {
            expr: perSecond('outcome', series('purser_validations_compared_total', chain)),
            legend: 'compared: {{outcome}}',
          },
          {
            expr: perSecond('outcome', series('purser_validations_recalled_total', chain)),
            legend: 'before a bundle: {{outcome}}',
          },
          {
            expr: perSecond('outcome', series('purser_bundle_gas_compared_total', chain)),
            legend: 'gas: {{outcome}}',
          },
          {
            expr: perSecond('outcome', series('purser_witnesses_total', chain)),
            legend: 'runs for replay: {{outcome}}',
          },
          {
            expr: perSecond('outcome', series('purser_data_fee_compared_total', chain)),
            legend: 'data fee: {{outcome}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Nodes and webhooks',
    panels: [
      {
        title: 'Age of the head',
        unit: 's',
        queries: [
          { expr: series('purser_head_age_seconds', chain), legend: '{{chain}} {{instance}}' },
        ],
      },
      {
        title: 'Blocks a minute',
        unit: 'short',
        queries: [
          {
            expr: `max by (chain) (delta(${series('purser_head_block', chain)}[5m])) / 5`,
            legend: '{{chain}}',
          },
        ],
      },
      {
        title: 'Exchanges with nodes, p95',
        unit: 's',
        queries: [
          { expr: quantile(0.95, 'chain, node', nodeBuckets), legend: '{{chain}} {{node}}' },
        ],
      },
      {
        title: 'Exchanges that failed, and nodes that are paused',
        unit: 'short',
        queries: [
          {
            expr: perSecond(
              'chain, node',
              series('purser_node_request_duration_seconds_count', {
                ...chain,
                outcome: '="failed"',
              }),
            ),
            legend: '{{chain}} {{node}} failed',
          },
          {
            expr: perSecond('chain, node, outcome', series('purser_broadcasts_total', chain)),
            legend: '{{chain}} {{node}} transactions: {{outcome}}',
          },
          {
            expr: `max by (chain, node) (${series('purser_node_paused', chain)})`,
            legend: '{{chain}} {{node}} paused',
          },
          {
            expr: `max by (chain) (${series('purser_chain_served', chain)})`,
            legend: '{{chain}} served',
          },
          {
            expr: `(max by (chain, fork) (${series('purser_fork_time_seconds', chain)}) - time()) / 86400`,
            legend: '{{chain}} days to {{fork}}',
          },
        ],
      },
      {
        title: 'Approvals by outcome',
        unit: 'ops',
        queries: [
          {
            expr: perSecond('outcome', series('purser_webhook_duration_seconds_count')),
            legend: '{{outcome}}',
          },
          {
            expr: `sum(increase(${series('purser_webhook_circuits_opened_total')}[1h]))`,
            legend: 'circuits opened an hour',
          },
        ],
      },
      {
        title: 'Events by outcome',
        unit: 'ops',
        queries: [
          {
            expr: perSecond('outcome', series('purser_event_deliveries_total')),
            legend: '{{outcome}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'Processor',
        unit: 'percentunit',
        queries: [
          { expr: `rate(${series('process_cpu_seconds_total')}${RATE})`, legend: '{{instance}}' },
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          { expr: series('process_resident_memory_bytes'), legend: '{{instance}}' },
          { expr: series('nodejs_heap_size_used_bytes'), legend: '{{instance}} heap' },
        ],
      },
      {
        title: 'Lag of the event loop, p99',
        unit: 's',
        queries: [{ expr: series('nodejs_eventloop_lag_p99_seconds'), legend: '{{instance}}' }],
      },
      {
        title: 'Connections to the database',
        unit: 'short',
        queries: [
          { expr: series('purser_db_pool_used'), legend: '{{instance}} used' },
          { expr: series('purser_db_pool_waiting'), legend: '{{instance}} waiting' },
        ],
      },
      {
        title: 'Version and hours since the start',
        unit: 'short',
        queries: [
          {
            expr: series('purser_build_info'),
            legend: '{{instance}} {{version}} (schema {{schema}})',
          },
          {
            expr: `(time() - ${series('process_start_time_seconds')}) / 3600`,
            legend: '{{instance}} hours',
          },
        ],
      },
    ],
  },
]

/** A metric as it is: a counter per second, a histogram by its mean. */
function panelOf([name, { kind, labels = {} }]: [string, MetricDefinition]): Panel {
  const by = Object.keys(labels)
  const total = (suffix = '') => `sum by (${by.join(', ')}) (rate(${name}${suffix}${RATE}))`
  const exprs = {
    counter: total(),
    gauge: name,
    histogram: `${total('_sum')} / ${total('_count')}`,
  }
  const legend = ['{{instance}}', ...by.map((label) => `{{${label}}}`)].join(' ')
  return {
    title: name,
    unit: kind === 'counter' ? 'ops' : 'short',
    queries: [{ expr: exprs[kind], legend }],
  }
}

/** The board of these metrics, row by row; the last row has each that no chosen panel shows. */
export function rowsOf(metrics: Readonly<Record<string, MetricDefinition>>): readonly Row[] {
  const shown = JSON.stringify([chosenRows, glance])
  const others = Object.entries(metrics).filter(
    ([name]) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(shown),
  )
  return others.length === 0
    ? chosenRows
    : [...chosenRows, { title: 'Others', panels: others.map(panelOf) }]
}

export const rows = rowsOf(catalogue)

const PANELS_A_ROW = 3
const COLUMNS = 24
const PANEL_HEIGHT = 8

function variable(name: string, query: string) {
  const definition = `label_values(${query})`
  return {
    name,
    type: 'query',
    datasource: { type: 'prometheus', uid: '$datasource' },
    definition,
    query: { query: definition, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  }
}

/** Where the pages of docs/ are read, until the operator sets it: as `purser_docs` of Prometheus. */
const DOCS = 'https://git.example/purser/docs'

/** A link to a runbook, below the address in the variable `docs`. */
function runbookLink(alert: Alert) {
  const url = `$docs/${runbookOf(alert).replace('docs/', '')}`
  return { title: alert.name, url, targetBlank: true }
}

function metricsOf(exprs: readonly string[]): readonly string[] {
  return exprs.flatMap((expr) => expr.match(/\bpurser_[a-z_]+/g) ?? [])
}

/** Links to the runbooks of the alerts that watch a metric of the panel. */
function runbookLinks(exprs: readonly string[]) {
  const shown = metricsOf(exprs)
  return alerts
    .filter(({ expr }) => metricsOf([expr]).some((metric) => shown.includes(metric)))
    .map(runbookLink)
}

const STAT_HEIGHT = 4

function statPanel({ title, unit, expr, bad: [bound, side] }: Stat, at: number) {
  const w = COLUMNS / glance.length
  const [low, high] = side === 'above' ? ['green', 'red'] : ['red', 'green']
  return {
    id: at + 1,
    type: 'stat',
    title,
    datasource: { type: 'prometheus', uid: '$datasource' },
    fieldConfig: {
      defaults: {
        unit,
        thresholds: {
          mode: 'absolute',
          steps: [
            { color: low, value: null },
            { color: high, value: bound },
          ],
        },
      },
      overrides: [],
    },
    options: {
      colorMode: 'background',
      graphMode: 'none',
      reduceOptions: { calcs: ['lastNotNull'] },
    },
    gridPos: { h: STAT_HEIGHT, w, x: at * w, y: 0 },
    links: runbookLinks([expr]),
    targets: [{ refId: 'A', expr, legendFormat: title, instant: true }],
  }
}

/** The board as Grafana imports it. */
export function boardFile(): string {
  let y = STAT_HEIGHT
  let id = glance.length
  const panels: object[] = glance.map(statPanel)
  for (const { title, panels: members } of rows) {
    panels.push({ id: ++id, type: 'row', title, gridPos: { h: 1, w: COLUMNS, x: 0, y: y++ } })
    for (const [i, { title: name, unit, queries }] of members.entries()) {
      const w = COLUMNS / PANELS_A_ROW
      panels.push({
        id: ++id,
        type: 'timeseries',
        title: name,
        datasource: { type: 'prometheus', uid: '$datasource' },
        fieldConfig: { defaults: { unit, min: unit === 'wei' ? null : 0 }, overrides: [] },
        gridPos: {
          h: PANEL_HEIGHT,
          w,
          x: (i % PANELS_A_ROW) * w,
          y: y + Math.floor(i / PANELS_A_ROW) * PANEL_HEIGHT,
        },
        links: runbookLinks(queries.map(({ expr }) => expr)),
        targets: queries.map(({ expr, legend }, at) => ({
          refId: String.fromCharCode(65 + at),
          expr,
          legendFormat: legend,
        })),
      })
    }
    y += Math.ceil(members.length / PANELS_A_ROW) * PANEL_HEIGHT
  }
  const board = {
    uid: 'purser',
    title: 'Purser',
    description: 'Made by scripts/monitoring; docs/operate/metrics.md explains the metrics.',
    tags: ['purser'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    links: [
      {
        title: 'Runbooks',
        type: 'link',
        url: '$docs/operate/operations.md#alerts',
        targetBlank: true,
      },
    ],
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        variable('chain', `${series('purser_chain_served')}, chain`),
        variable('app', `${series('purser_tank_available_wei')}, app`),
        {
          name: 'docs',
          type: 'textbox',
          label: 'Pages of docs/',
          query: DOCS,
          current: { text: DOCS, value: DOCS },
        },
      ],
    },
    panels,
  }
  return `${JSON.stringify(board, null, 2)}\n`
}
