import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Compiled, compileSources } from '../../support/chain/compileSolidity.js'

const MODULES = '@biconomy-devx/account-contracts-v2/contracts/smart-account/modules'

const require = createRequire(import.meta.url)
/** Biconomy's contracts are for the libraries of its own packages. */
const ofBiconomy = createRequire(require.resolve('@biconomy/common/package.json'))

function contentOf(name: string): string {
  if (name.startsWith('@openzeppelin/')) return readFileSync(ofBiconomy.resolve(name), 'utf8')
  const path = name.replace(/^@account-abstraction\/contracts/, 'account-abstraction-v06')
  return readFileSync(require.resolve(path), 'utf8')
}

/** The sources that `names` import, and they themselves. */
function collect(
  names: readonly string[],
  sources: Record<string, { content: string }> = {},
): Record<string, { content: string }> {
  for (const name of names.filter((each) => !(each in sources))) {
    const content = contentOf(name)
    // They ask for exactly 0.8.17; the compiler of the tests is a later one.
    sources[name] = { content: content.replace('pragma solidity 0.8.17;', '') }
    const imports = [...content.matchAll(/^import\s[^"]*"([^"]+)"/gm)].map(([, path]) => path!)
    const relative = (path: string) => (path.startsWith('.') ? join(dirname(name), path) : path)
    collect(imports.map(relative), sources)
  }
  return sources
}

const optimizer = { enabled: true, runs: 800 }

/**
 * Biconomy's modules for session keys, compiled from the sources that its package on npm holds (MIT). No package has
 * their creation code. The repository compiles with 0.8.17 and `viaIR`, without which two of them do not compile. Of the
 * manager, our later compiler would then part GAS from its CALL, which 0.8.17 does not (OP-012).
 */
export function compileSessionModules(): Record<string, Compiled> {
  const settings = { evmVersion: 'shanghai', optimizer }
  const manager = collect([`${MODULES}/SessionKeyManagerModule.sol`])
  const others = collect([
    `${MODULES}/BatchedSessionRouterModule.sol`,
    `${MODULES}/SessionValidationModules/ERC20SessionValidationModule.sol`,
  ])
  return {
    ...compileSources(manager, settings),
    ...compileSources(others, { ...settings, viaIR: true }),
  }
}
