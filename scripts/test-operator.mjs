import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

/**
 * `npm run test:operator -- --minutes 30 --seed 1`: drills one by one, then all that an operator does, under traffic, for so
 * many minutes; 0 = the drills only.
 */
const { minutes, seed } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string' } },
}).values
const drills = ['deadNode', 'reload', 'rewrap', 'chainAway', 'halfHour']
const files = drills.map((name) => `test/operator/${name}.test.ts`)
const { status } = spawnSync('npx', ['vitest', 'run', '--no-file-parallelism', ...files], {
  stdio: 'inherit',
  env: { ...process.env, PURSER_OPERATOR_MINUTES: minutes, ...(seed && { PURSER_SEED: seed }) },
})
process.exitCode = status ?? 1
