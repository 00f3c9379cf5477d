import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests of processes take longest and mostly wait: begun first, they leave no worker alone at the end. */
const begunFirst = /\/test\/(faults|lifecycle)\//

function turnOf({ project, moduleId }: TestSpecification): number {
  if (project.name === 'quick') return 2
  return begunFirst.test(moduleId) ? 0 : 1
}

/** One project after the other, because a worker drops its modules when the project changes. */
export default class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => turnOf(a) - turnOf(b))
  }
}
