import { boardFile } from './board.js'
import { rulesFile, ruleTestsFile } from './rules.js'

/** The files that operators take, by path, as they have to be. */
export function monitoringFiles(): Readonly<Record<string, string>> {
  const rules = rulesFile()
  return {
    'deploy/grafana/purser.json': boardFile(),
    'deploy/prometheus/purser.rules.yml': rules,
    // Helm reads no file outside the chart.
    'deploy/helm/purser/purser.rules.yml': rules,
    'deploy/prometheus/purser.rules.test.yml': ruleTestsFile(),
  }
}
