import { catalogue, type MetricDefinition } from '../../src/base/metrics/catalogue.js'
import { alerts } from './alerts.js'
import { runbookOf } from './rules.js'

/** Values of a label that are all written out; of a longer list the number is given. */
const MOST_NAMED = 8

/** The metrics and alerts as tables of Markdown. */
export function metricTables(): string {
  const metrics = Object.entries<MetricDefinition>(catalogue).map(
    ([name, { kind, help, meaning, labels }]) =>
      `| \`${name}\` | ${kind} | ${labelsText(labels)} | ${help} ${meaning} |`,
  )
  const rules = alerts.map((alert) => {
    const { name, severity, after, summary } = alert
    const anchor = runbookOf(alert).replace('docs/operate/', '')
    const text = summary.replaceAll(/\{\{ \$(?:labels\.)?(\w+) \}\}/g, '…')
    return `| [\`${name}\`](${anchor}) | ${severity} | ${after} | ${text} |`
  })
  return [
    '| metric | kind | labels | meaning |',
    '|---|---|---|---|',
    ...metrics,
    '',
    '## Alerts',
    '',
    '| alert | severity | after | says |',
    '|---|---|---|---|',
    ...rules,
  ].join('\n')
}

function labelsText(labels: MetricDefinition['labels']): string {
  const texts = Object.entries(labels).map(([label, values]) => {
    if (typeof values === 'string') return `\`${label}\`: ${values}`
    if (values.length > MOST_NAMED)
      return `\`${label}\`: one of ${values.length} in \`src/base/metrics/catalogue.ts\``
    return `\`${label}\`: ${values.map((value) => `\`${value}\``).join(', ')}`
  })
  return texts.join('; ') || '–'
}
