/**
 * Runs suites against nodes that are not anvil: Hardhat's, as Ethereum and as a chain of the OP stack, and geth in
 * developer mode where PURSER_GETH names its binary, or Go has built one; `amsterdam` is geth that changes over to that
 * fork while it runs. Names of kinds choose among them; `--subset` leaves all but the
 * first suites of each out, for `.ci/run`. See docs/operate/nodes.md.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const clients = ['viem', 'permissionless', 'viemTokens', 'ethers'].map(
  (name) => `test/clients/${name}.test.ts`,
)
const everywhere = ['test/nodes/nodes.test.ts', ...clients, 'test/compliance/admission.test.ts']
const suites = {
  hardhat: [...everywhere, 'test/gas/estimateInProcess.test.ts'],
  'hardhat-op': ['test/nodes/nodes.test.ts', 'test/bundler/rollup.test.ts'],
  // Not what undoes blocks by snapshots: geth's pool sends their transactions again.
  geth: [
    ...everywhere,
    'test/compliance/admissionOnNode.test.ts',
    'test/simulation/trace/parity.test.ts',
  ],
  amsterdam: [
    'test/nodes/amsterdam.test.ts',
    'test/nodes/rehearsal.test.ts',
    'test/nodes/unknownPrices.test.ts',
  ],
}

/** How many of its first suites are the subset, where it is more than one. */
const subsetOf = { amsterdam: 2 }

/** What puts load on a node runs by itself: together with others it would measure the machine. */
const alone = { hardhat: ['test/nodes/load.test.ts'], geth: ['test/nodes/load.test.ts'] }

function hasGeth() {
  const built = join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin', 'geth')
  return Boolean(process.env.PURSER_GETH) || existsSync(built)
}

const isSubset = process.argv.includes('--subset')
const wanted = process.argv.slice(2).filter((argument) => argument !== '--subset')
const kinds = Object.keys(suites).filter((kind) => wanted.length === 0 || wanted.includes(kind))
let failed = false
for (const kind of kinds) {
  if ((kind === 'geth' || kind === 'amsterdam') && !hasGeth()) {
    console.log(`${kind}: left out, because PURSER_GETH names no geth, and Go has built none`)
    continue
  }
  console.log(`${kind}:`)
  const runs =
    kind === 'amsterdam' && !isSubset ? { PURSER_RUNS: 'full', PURSER_AMSTERDAM_AHEAD: '3000' } : {}
  const env = { ...process.env, ...runs, PURSER_TEST_NODE: kind }
  const groups = isSubset
    ? [suites[kind].slice(0, subsetOf[kind] ?? 1)]
    : [alone[kind] ?? [], suites[kind]]
  for (const files of groups.filter(({ length }) => length > 0)) {
    const args = ['node_modules/vitest/vitest.mjs', 'run', ...files]
    const { status } = spawnSync(process.execPath, args, { env, stdio: 'inherit' })
    if (status !== 0) failed = true
  }
}
process.exit(failed ? 1 : 0)
