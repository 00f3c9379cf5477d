import { catalogue, type MetricDefinition } from '../../src/base/metrics/catalogue.js'
import { type Alert, alerts } from './alerts.js'
import { runbookOf } from './rules.js'

/** Values of a label that are all written out; of a longer list the number is given. */
const MOST_NAMED = 8

const textOf = (label: string, values: string) => `\`${label}\`: ${values}`

/** Labels without a list of values. One that several metrics share is explained once, above the table. */
const openLabels = Object.values<MetricDefinition>(catalogue).flatMap(({ labels }) =>
  Object.entries(labels).flatMap(([label, values]) =>
    typeof values === 'string' ? [textOf(label, values)] : [],
  ),
)
const commonLabels = [...new Set(openLabels)].filter(
  (text) => openLabels.filter((each) => each === text).length > 1,
)

/** The metrics as a list of Markdown, and the alerts by severity. */
export function metricTables(): string {
  const metrics = Object.entries<MetricDefinition>(catalogue).map(
    ([name, { kind, help, meaning, labels }]) =>
      `- \`${name}\` (${[kind, ...labelTexts(labels)].join('; ')}): ${help} ${meaning}`,
  )
  const named = (wanted: Alert['severity']) =>
    alerts
      .filter(({ severity }) => severity === wanted)
      .map((alert) => `[${alert.name}](${runbookOf(alert).replace('docs/operate/', '')})`)
      .join(', ')
  return [
    `Labels of several metrics: ${commonLabels.join('; ')}.`,
    '',
    ...metrics,
    '',
    '## Alerts',
    '',
    `- Severity \`page\`: ${named('page')}`,
    `- Severity \`warn\`: ${named('warn')}`,
  ].join('\n')
}

function labelTexts(labels: MetricDefinition['labels']): readonly string[] {
  return Object.entries(labels).map(([label, values]) => {
    if (typeof values === 'string') {
      const text = textOf(label, values)
      return commonLabels.includes(text) ? `\`${label}\`` : text
    }
    if (values.length > MOST_NAMED) return `\`${label}\`: ${values.length} values`
    return `\`${label}\`: ${values.map((value) => `\`${value}\``).join(', ')}`
  })
}
