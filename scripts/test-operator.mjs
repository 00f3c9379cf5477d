import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

/** `npm run test:operator -- --minutes 30 --seed 1`: what an operator does, under traffic. */
const { minutes, seed } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string' } },
}).values
const { status } = spawnSync('npx', ['vitest', 'run', 'test/operator/halfHour.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, PURSER_OPERATOR_MINUTES: minutes, ...(seed && { PURSER_SEED: seed }) },
})
process.exitCode = status ?? 1
