import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Tests of processes take longest and mostly wait: begun first, and the longest of all (a minute and more) before the others,
 * they leave no worker alone at the end.
 */
const begunFirst = [
  /\/(noSurvivors|crashMatrix|masterKey|auditLog|startStop|serveDatabase|policyCommands|prometheus|chainAway)\.test/,
  /\/test\/(faults|lifecycle|operator|console|monitoring)\//,
]

function turnOf({ project, moduleId }: TestSpecification): number {
  if (project.name === 'quick') return begunFirst.length + 1
  const turn = begunFirst.findIndex((names) => names.test(moduleId))
  return turn === -1 ? begunFirst.length : turn
}

/** One project after the other, because a worker drops its modules when the project changes. */
export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => turnOf(a) - turnOf(b))
  }
}
