import { boardFile } from './board.js'
import { rulesFile, ruleTestsFile } from './rules.js'

/** The files that operators take, by path, as they have to be. */
export function monitoringFiles(): Readonly<Record<string, string>> {
  return {
    'deploy/grafana/purser.json': boardFile(),
    'deploy/prometheus/purser.rules.yml': rulesFile(),
    'deploy/prometheus/purser.rules.test.yml': ruleTestsFile(),
  }
}
