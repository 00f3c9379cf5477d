import { type Alert, alertGroups, alerts } from './alerts.js'
import { toYaml } from './yaml.js'

const GENERATED = '# Made by scripts/monitoring; see docs/operate/metrics.md.\n'
const RULES_FILE = 'purser.rules.yml'

/** The anchor of an alert's section in docs/operate/operations.md. */
export function runbookOf({ name }: Alert): string {
  return `docs/operate/operations.md#${name.toLowerCase()}`
}

/**
 * The address of an alert's section for a person who is called: below the external label `purser_docs` of Prometheus, which
 * says where the pages of docs/ are read.
 */
function runbookUrlOf(alert: Alert): string {
  const page = runbookOf(alert).replace('docs/', '')
  return `{{ with $externalLabels.purser_docs }}{{ . }}{{ else }}docs{{ end }}/${page}`
}

/** The alert rules in the format of Prometheus. */
export function rulesFile(): string {
  const groups = Object.entries(alertGroups).map(([name, members]) => ({
    name,
    rules: members.map((alert) => ({
      alert: alert.name,
      expr: alert.expr,
      for: alert.after,
      labels: { severity: alert.severity },
      annotations: { summary: alert.summary, runbook_url: runbookUrlOf(alert) },
    })),
  }))
  return GENERATED + toYaml({ groups })
}

/** The tests of the rules for `promtool test rules`: each alert fires where it must and is quiet otherwise. */
export function ruleTestsFile(): string {
  const tests = alerts.flatMap((alert) => [
    ruleTest(alert, 'fires', alert.firing, 1),
    ruleTest(alert, 'is quiet', alert.quiet, 0),
  ])
  return GENERATED + toYaml({ rule_files: [RULES_FILE], evaluation_interval: '15s', tests })
}

/** promtool compares whole alerts, so a test asks for the number of those that fire. */
function ruleTest({ name, at }: Alert, what: string, input: Alert['firing'], count: 0 | 1) {
  const firing = `ALERTS{alertname="${name}", alertstate="firing"}`
  return {
    interval: '15s',
    name: `${name} ${what}`,
    input_series: input,
    promql_expr_test: [
      {
        expr: `count(${firing}) or vector(0)`,
        eval_time: at,
        exp_samples: [{ labels: '{}', value: count }],
      },
    ],
  }
}
